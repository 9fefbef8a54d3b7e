// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/json_text.hpp"

namespace hocket::base {

using nlohmann::json;

namespace {

constexpr int max_depth = 64;

}  // namespace

json parse_json(std::string_view text, std::string_view source) {
    // The library takes the last of several equal keys, so that a reader sees another value than a person may.
    std::vector<std::set<std::string>> keys;
    std::string last_key = "a number";
    const auto check = [&](int depth, json::parse_event_t event, const json& value) {
        // The library prints, copies and compares values by recursion.
        if (depth > max_depth)
            throw InvalidInput(std::string(source) + ": more than 64 lists and objects in each other");
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        if (event == json::parse_event_t::object_end) keys.pop_back();
        if (event != json::parse_event_t::key) return true;
        last_key = value.get<std::string>();
        if (!keys.back().insert(last_key).second)
            throw InvalidInput(std::string(source) + ": the key " + show_json(value) + " occurs twice in one object");
        return true;
    };
    try {
        return json::parse(text, check);
    } catch (const json::out_of_range& error) {  // the library quotes the number
        const std::string what = error.what();
        const std::size_t quote = what.find('\'') + 1;
        const std::string number = shortened(what.substr(quote, what.rfind('\'') - quote), 40);
        throw InvalidInput(std::string(source) + ": " + last_key + " is " + number +
                           "; accepted: numbers up to 1.8e308");
    } catch (const json::exception& error) {
        // The library's own text starts with its error number in brackets and quotes the bytes it read last.
        std::string what = error.what();
        if (const std::size_t bracket = what.find("] "); bracket != std::string::npos) what.erase(0, bracket + 2);
        what = what.substr(0, what.find("; last read"));
        std::replace_if(what.begin(), what.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        throw InvalidInput(std::string(source) + ": not JSON: " + what);
    }
}

std::string print_json(const json& value) { return value.dump(-1, ' ', true, json::error_handler_t::replace); }

std::string show_json(const json& value, std::size_t longest) { return shortened(print_json(value), longest); }

std::string shortened(const std::string& text, std::size_t longest) {
    return text.size() > longest ? text.substr(0, longest - 3) + "..." : text;
}

std::string json_text(std::string_view text) { return print_json(json(text)); }

std::string number_text(double value) {
    std::array<char, 400> text;  // 1e16 has 17 digits, 1e-4 some 22; a number that is not finite has a name
    const auto print = [&](std::chars_format style) {
        const auto end = std::to_chars(text.data(), text.data() + text.size(), value, style).ptr;
        return std::string(text.data(), end);
    };
    const double size = std::abs(value);
    if (size != 0 && !(size >= 1e-4 && size < 1e16)) return print(std::chars_format::scientific);
    const std::string fixed = print(std::chars_format::fixed);
    return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

bool is_utf8(std::string_view text) {
    try {
        static_cast<void>(json(text).dump(-1, ' ', true));
        return true;
    } catch (const json::exception&) {
        return false;
    }
}

}  // namespace hocket::base
