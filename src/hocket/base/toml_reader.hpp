// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

// toml++ asserts what some malformed texts break, such as "[[[a]]]" (its issue 301), and without asserts assumes it:
// any bytes must end in an exception instead. A source file that includes this header includes toml++ nowhere else, and
// a program has one such file: the two compilations of toml++ would differ.
#undef NDEBUG
namespace {
struct BrokenToml {};
[[noreturn]] void refuse_toml() { throw BrokenToml{}; }
}  // namespace
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : refuse_toml())
#if __has_include(<toml++/toml.hpp>)
#include <toml++/toml.hpp>
#else
#include <toml++/toml.h>  // before toml++ 3.4
#endif

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/base/units.hpp"

namespace hocket::base {

using Keys = std::span<const std::string_view>;

/// Values out of a TOML file; each is there and of its kind, or refused with file, line, key, found and expected.
class TomlReader {
protected:
    explicit TomlReader(std::string_view source_name) : source_name_(source_name) {}

    [[nodiscard]] std::string at(const toml::source_region& source) const {
        return source_name_ + ":" + std::to_string(source.begin.line) + ": ";
    }
    [[noreturn]] void refuse(const toml::source_region& source, const std::string& what, std::string hint = {}) const {
        throw InvalidInput(at(source) + what, std::move(hint));
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& what, std::string hint = {}) const {
        refuse(node.source(), what, std::move(hint));
    }

    [[nodiscard]] toml::table parse(std::string_view text) const {
        try {
            return toml::parse(text);
        } catch (const toml::parse_error& error) {
            refuse(error.source(), "not TOML: " + std::string(error.description()));
        } catch (const BrokenToml&) {
            throw InvalidInput(source_name_ + ": not TOML: a malformed key or table header", "check the brackets");
        }
    }

    void check_keys(const toml::table& table, const std::string& what, Keys accepted) const {
        for (auto&& [key, value] : table) {
            if (std::find(accepted.begin(), accepted.end(), key.str()) != accepted.end()) continue;
            refuse(key.source(),
                   "unknown key " + quoted(key.str()) + " in " + what + "; accepted: " + list_of(accepted),
                   did_you_mean(key.str(), accepted));
        }
    }

    [[nodiscard]] const toml::node& required(const toml::table& table, std::string_view key,
                                             const std::string& expected) const {
        const toml::node* node = table.get(key);
        if (node == nullptr) refuse(table, "key " + quoted(key) + " is missing; expected: " + expected);
        return *node;
    }

    [[nodiscard]] std::string text_of(const toml::node& node, std::string_view key, const std::string& expected) const {
        const auto* text = node.as_string();
        if (text == nullptr) refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: " + expected);
        return text->get();
    }
    [[nodiscard]] std::string text_of(const toml::table& table, std::string_view key,
                                      const std::string& expected) const {
        return text_of(required(table, key, expected), key, expected);
    }

    static std::string kind_of(const toml::node& node) {
        std::ostringstream text;
        switch (node.type()) {
            case toml::node_type::integer:
                text << "the number " << node.as_integer()->get();
                break;
            case toml::node_type::floating_point:
                text << "the number " << node.as_floating_point()->get();
                if (text.str().find_first_not_of("-0123456789", 11) == std::string::npos) text << ".0";  // 2.0, not 2
                break;
            case toml::node_type::boolean:
                text << "a boolean";
                break;
            case toml::node_type::string:
                text << quoted(node.as_string()->get());
                break;
            case toml::node_type::array:
                text << "an array";
                break;
            case toml::node_type::table:
                text << "a table";
                break;
            default:
                text << "a date or time";
        }
        return text.str();
    }

    [[nodiscard]] const toml::table& table_of(const toml::node& node, std::string_view key) const {
        if (!node.is_table())
            refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: a table [" + std::string(key) + "]");
        return *node.as_table();
    }

    /// The tables of `[[key]]`.
    [[nodiscard]] std::vector<const toml::table*> tables_of(const toml::table& file, std::string_view key) const {
        std::vector<const toml::table*> tables;
        const toml::node* node = file.get(key);
        if (node == nullptr) return tables;
        const std::string expected = "; expected: tables [[" + std::string(key) + "]]";
        if (!node->is_array()) refuse(*node, std::string(key) + " is " + kind_of(*node) + expected);
        for (const toml::node& element : *node->as_array()) {
            if (!element.is_table()) refuse(element, std::string(key) + " holds " + kind_of(element) + expected);
            tables.push_back(element.as_table());
        }
        return tables;
    }

    /// A quantity with a unit; the number 0 needs none.
    double quantity(const toml::node& node, std::string_view key,
                    double (*parse_text)(std::string_view, std::string_view), const char* example) const {
        const std::string where = at(node.source()) + std::string(key);
        if (const auto* text = node.as_string()) return parse_text(text->get(), where);
        const double number = node.value_or(1.0);
        if (node.is_number() && !(number < 0) && !(number > 0) && !std::isnan(number)) return parse_text("0", where);
        if (node.is_number())
            refuse(node, std::string(key) + " is " + kind_of(node) + ", without a unit",
                   std::string("write for example \"") + example + "\"");
        refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: text such as \"" + example + "\"");
    }

    std::string source_name_;
};

}  // namespace hocket::base
