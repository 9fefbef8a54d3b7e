// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "runtime/handles.hpp"

/// All engines of the process. What is pending in those without a thread moves on in every call that waits, since
/// another rank may wait for that first.

namespace hocket::runtime {

/// Moves on what is pending in engines without a thread. True if anything moved.
bool help_all();
/// Whether anything is pending that moves on in the calls of the program alone.
bool needs_help();
/// When `engine` can take one more; meanwhile the others move on, which may be what another rank waits for.
void start_in(hocket_engine& engine, Task& task);
/// Until `task` is done; `engine` may be null.
void wait_for(hocket_engine* engine, const Task& task);
/// Until nothing is pending in it.
void drain(hocket_engine& engine);

}  // namespace hocket::runtime
