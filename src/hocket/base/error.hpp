// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <stdexcept>
#include <string>

namespace hocket {

/// Any failure that hocket reports on purpose.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what, std::string hint = {}) : std::runtime_error(what), hint_(std::move(hint)) {}
    /// What the user can do next; may be empty. Shown after "hint:" by the command line.
    [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

private:
    std::string hint_;
};

/// Wrong input. `what` names where (file, line or key), what was found and what is accepted.
class InvalidInput : public Error {
public:
    using Error::Error;
};

namespace base {
/// Prints the broken invariant and aborts: never reachable from user input.
[[noreturn]] void assertion_failed(const char* condition, const char* message, const char* file, int line) noexcept;
}  // namespace base

}  // namespace hocket

#define HOCKET_ASSERT(condition, message) \
    ((condition) ? static_cast<void>(0) : ::hocket::base::assertion_failed(#condition, message, __FILE__, __LINE__))
