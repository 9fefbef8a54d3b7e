// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace hocket::base {

void assertion_failed(const char* condition, const char* message, const char* file, int line) noexcept {
    std::fprintf(stderr, "hocket: internal error at %s:%d: %s (%s). Please report it.\n", file, line, message,
                 condition);
    std::abort();
}

}  // namespace hocket::base
