// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::base {

/// Writes one JSON value from its beginning to its end, in ASCII; keys stay in the order in which they are written.
///
///     JsonWriter json;
///     json.begin_object();
///     json.field("format", "hocket.eager/1");
///     json.field("eager_bytes", 4096);
///     json.end_object();
class JsonWriter {
public:
    enum class Layout {
        line,   ///< all on one line
        lines,  ///< each element on a line of its own, indented once for each such list or object around it
    };
    enum class Spaces {
        after_separators,
        none
    };  ///< "none" makes files smaller; after a key on a line of its own is one

    explicit JsonWriter(std::size_t indent = 2, Spaces spaces = Spaces::after_separators)
        : indent_(indent), spaces_(spaces) {}

    void begin_object(Layout layout = Layout::line) { begin('{', layout); }
    void end_object() { end('}'); }
    void begin_list(Layout layout = Layout::line) { begin('[', layout); }
    void end_list() { end(']'); }

    /// In an object, before each value.
    JsonWriter& key(std::string_view name);

    void value(std::string_view text);
    void value(const char* text) { value(std::string_view(text)); }
    void value(const std::string& text) { value(std::string_view(text)); }
    void value(std::nullptr_t) { raw("null"); }
    void value(bool truth) { raw(truth ? "true" : "false"); }
    void value(std::signed_integral auto number) { whole(static_cast<std::int64_t>(number)); }
    void value(std::unsigned_integral auto number) { whole(static_cast<std::uint64_t>(number)); }
    /// As number_text prints it; null if it is not finite.
    void value(double number);

    template <class Value>
    void value(const std::optional<Value>& given) {
        if (given) {
            value(*given);
        } else {
            value(nullptr);
        }
    }

    /// A list on one line.
    template <class Values>
        requires requires(const Values& values) { values.begin(); }
    void value(const Values& values) {
        begin_list();
        for (const auto& one : values) value(one);
        end_list();
    }

    template <class Value>
    void field(std::string_view name, const Value& given) {
        key(name).value(given);
    }

    /// A value that is JSON already.
    void raw(std::string_view text);

    /// What has been written.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    struct Open {
        Layout layout;
        bool is_empty = true;
    };

    void begin(char bracket, Layout layout);
    void end(char bracket);
    void separate();
    void break_line();
    void quote(std::string_view text);
    void whole(std::int64_t number);
    void whole(std::uint64_t number);

    std::size_t indent_;
    Spaces spaces_;
    std::string text_;
    std::vector<Open> open_;
    std::size_t lines_open_ = 0;  ///< of them, those in lines
    bool has_key_ = false;
};

}  // namespace hocket::base
