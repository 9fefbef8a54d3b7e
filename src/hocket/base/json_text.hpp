// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hocket::base {

/// The text as JSON: in double quotes, in ASCII. For those who write JSON and need nothing else of base/json.hpp.
std::string json_text(std::string_view text);

/// The shortest decimal that reads back as the same number, with a point or an exponent: as Python prints it.
std::string number_text(double number);

/// JSON, which is ASCII here, cut after `longest` bytes: safe to print in a message.
std::string shortened(const std::string& json, std::size_t longest);

/// Whether these bytes are a text that JSON can hold.
bool is_utf8(std::string_view text);

}  // namespace hocket::base
