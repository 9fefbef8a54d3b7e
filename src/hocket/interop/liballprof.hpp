// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <span>

#include "hocket/interop/recorder.hpp"
#include "hocket/interop/source.hpp"

namespace hocket::interop {

/// Traces of liballprof [Hoefler10], one file a rank in the order of the ranks. Which requests a call completes is
/// found by their addresses; members of communicators as the calls that made them give them. `align`: as in
/// shift_clocks().
/// @throws InvalidInput  naming the file and the line.
ForeignTrace read_liballprof(std::span<const Source> files, bool align);

}  // namespace hocket::interop
