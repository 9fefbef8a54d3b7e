// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/json.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/json_text.hpp"

namespace hocket::base {

using nlohmann::json;

json parse_json(std::string_view text, std::string_view source) {
    // The library takes the last of several equal keys, so that a reader sees another value than a person may.
    std::vector<std::set<std::string>> keys;
    const auto check_keys = [&](int, json::parse_event_t event, const json& value) {
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        if (event == json::parse_event_t::object_end) keys.pop_back();
        if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
            throw InvalidInput(std::string(source) + ": the key " + show_json(value) + " occurs twice in one object");
        return true;
    };
    try {
        return json::parse(text, check_keys);
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

std::string show_json(const json& value, std::size_t longest) {
    std::string text = print_json(value);
    if (text.size() > longest) text = text.substr(0, longest - 3) + "...";
    return text;
}

std::string json_text(std::string_view text) { return print_json(json(text)); }

}  // namespace hocket::base
