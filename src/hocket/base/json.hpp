// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// The parser and the printer of JSON, compiled here alone: each file that uses them itself costs seconds of the user's
/// first build.
namespace hocket::base {

/// @param source  leads every message, e.g. the path of the file
/// @throws InvalidInput if `text` is not JSON, if a key occurs twice in one object, if a number is not finite, or if
///                      more than 64 lists and objects are in each other
nlohmann::json parse_json(std::string_view text, std::string_view source);

/// The value on one line, in ASCII.
std::string print_json(const nlohmann::json& value);

/// The same, cut after `longest` bytes: safe to print in a message.
std::string show_json(const nlohmann::json& value, std::size_t longest = 60);

}  // namespace hocket::base
