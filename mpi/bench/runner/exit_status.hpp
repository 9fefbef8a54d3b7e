// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

namespace hocket::bench {

/// The exit statuses of hocket-bench. `exit_again`: the same command goes on from here (EX_TEMPFAIL of sysexits.h).
inline constexpr int exit_done = 0, exit_failed = 1, exit_invalid = 2, exit_again = 75;

}  // namespace hocket::bench
