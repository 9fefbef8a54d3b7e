// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

#include "hocket/trace/rank_file.hpp"

namespace hocket::trace {

/// The bytes of a rank file: decode_rank_file() gives the same RankFile again, if it has one from there. Of one made in
/// another way, the readings of the CPU clock that are missing (-1) are filled in.
/// @throws InvalidInput  if it has more functions than the format can number, or a record is too long.
std::string encode_rank_file(const RankFile&);

}  // namespace hocket::trace
