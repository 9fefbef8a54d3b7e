// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <span>

#include "hocket/interop/recorder.hpp"
#include "hocket/interop/source.hpp"

namespace hocket::interop {

/// Traces of sst-dumpi, one file a rank in the order of the ranks. Members of communicators are those that the calls
/// that made them give. `align`: as in shift_clocks().
/// @throws InvalidInput  naming the file and the byte.
ForeignTrace read_dumpi(std::span<const Source> files, bool align);

}  // namespace hocket::interop
