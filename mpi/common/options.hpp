// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <charconv>
#include <cstring>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket {

/// The value of an option. @throws InvalidInput  if it is not a number above 0
template <class Number>
Number number_of(const std::string& option, const char* text) {
    Number number{};
    const char* const end = text + std::strlen(text);
    const auto [stop, code] = std::from_chars(text, end, number);
    if (code != std::errc{} || stop != end || !(number > 0)) {
        throw InvalidInput(option + " is \"" + text + "\"; accepted: a number above 0");
    }
    return number;
}

}  // namespace hocket
