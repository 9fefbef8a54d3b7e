// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/interop/source.hpp"

namespace hocket::interop {

/// The text with all bytes but ASCII's printable ones as \xNN: names and messages are for people.
inline std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
            shown += c;
        else
            shown.append({'\\', 'x', digits[byte >> 4U], digits[byte & 15U]});
    }
    return shown;
}

/// Cuts a text into lines, and a line into fields.
class TextLines {
public:
    explicit TextLines(const Source& source) : source_(&source) {}

    /// The next line, without its end. False at the end of the text.
    bool next() {
        if (at_ >= source_->bytes.size()) return false;
        const std::size_t end = std::min(source_->bytes.find('\n', at_), source_->bytes.size());
        line_ = source_->bytes.substr(at_, end - at_);
        if (line_.ends_with('\r')) line_.remove_suffix(1);
        at_ = end + 1;
        ++number_;
        return true;
    }
    [[nodiscard]] std::string_view line() const { return line_; }

    /// Fields between blanks; none is empty.
    void split_at_blanks(std::vector<std::string_view>& fields) const {
        fields.clear();
        for (std::size_t at = line_.find_first_not_of(" \t"); at != std::string_view::npos;) {
            const std::size_t end = std::min(line_.find_first_of(" \t", at), line_.size());
            fields.push_back(line_.substr(at, end - at));
            at = line_.find_first_not_of(" \t", end);
        }
    }
    static void split_at(std::string_view text, char sign, std::vector<std::string_view>& fields) {
        fields.clear();
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find(sign, at), text.size());
            fields.push_back(text.substr(at, end - at));
            at = end + 1;
        }
    }

    /// A whole number, which may be written as in 1e6 or 1.5e3.
    [[nodiscard]] std::int64_t whole(std::string_view text, const char* what, std::int64_t least,
                                     std::int64_t most) const {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) {
            const double number = real(text, what);
            if (number != static_cast<double>(static_cast<std::int64_t>(number))) fail(text, what, "a whole number");
            value = static_cast<std::int64_t>(number);
        }
        if (value < least || value > most) fail(text, what, std::to_string(least) + " to " + std::to_string(most));
        return value;
    }
    [[nodiscard]] double real(std::string_view text, const char* what) const {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        constexpr double most = 9e18;
        if (error != std::errc() || end != text.data() + text.size() || !(value >= -most && value <= most))
            fail(text, what, "a number");
        return value;
    }

    [[noreturn]] void fail(std::string_view found, const char* what, const std::string& accepted) const {
        throw InvalidInput(source_->name + ", line " + std::to_string(number_) + ": " + what + ": found " + "\"" +
                               printable(found.substr(0, 60)) + "\"" + "; accepted: " + accepted,
                           "the file is damaged or of another format: --format names the format");
    }

private:
    const Source* source_;
    std::size_t at_ = 0;
    std::int64_t number_ = 0;
    std::string_view line_;
};

}  // namespace hocket::interop
