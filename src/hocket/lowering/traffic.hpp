// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/program/program.hpp"
#include "hocket/traffic/traffic.hpp"

namespace hocket {

/// The same messages as a Program. A source has one message on the way at a time, each send waiting for the one before,
/// or all of its messages at once; receives wait for nothing.
/// @throws InvalidInput  if there are more than 2^30 messages.
Program program_of(const Traffic&, bool all_at_once = false);

}  // namespace hocket
