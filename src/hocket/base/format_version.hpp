// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace hocket::base {

/// What to do about a file of a version that did not exist yet when this hocket was made.
inline constexpr std::string_view made_by_newer = "made by a newer hocket; update this one";

/// Whether `found`, as NAME/4, is a later version than `newest`, as NAME/3, of the same format.
inline bool is_newer_format(std::string_view found, std::string_view newest) {
    const auto name = newest.substr(0, newest.rfind('/') + 1);
    if (!found.starts_with(name)) return false;
    const auto number = [&name](std::string_view format) {
        const auto digits = format.substr(name.size());
        int value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (end != digits.data() + digits.size()) return 0;
        return error == std::errc::result_out_of_range ? std::numeric_limits<int>::max() : value;
    };
    return number(found) > number(newest);
}

/// The hint for a format that is refused.
inline std::string hint_for_format(std::string_view found, std::string_view newest, std::string_view otherwise) {
    return std::string(is_newer_format(found, newest) ? made_by_newer : otherwise);
}

}  // namespace hocket::base
