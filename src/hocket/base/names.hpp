// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <span>
#include <string>
#include <string_view>

/// Words for messages about names that a user wrote.
namespace hocket::base {

/// `did you mean "bandwidth"?` for the nearest candidate if it is near enough to be a slip, else empty.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// `"a", "b", "c"`
std::string list_of(std::span<const std::string_view> names);

/// The text in double quotes, control characters escaped, cut after 80 bytes: safe to print in a message.
std::string quoted(std::string_view text);

}  // namespace hocket::base
