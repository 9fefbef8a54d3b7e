// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdio>
#include <string>

namespace hocket::interpose {

/// One line for people, on standard error.
inline void log_line(const std::string& line) { std::fprintf(stderr, "hocket: %s\n", line.c_str()); }

}  // namespace hocket::interpose
