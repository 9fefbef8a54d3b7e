// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "hocket/program/program.hpp"

namespace hocket {

/// The first bytes of a file, by which it is recognised.
bool is_goal_binary(std::string_view bytes);

/// Programs in the binary form of GOAL that LogGOPSim runs: what its txt2bin makes of to_goal(). Little endian,
/// unaligned:
///
///   file  = u64 4223, u32 number of ranks, u8 largest cpu, u8 largest nic, for each rank u64 start and u64 end of its
///           part from byte 8 on, the parts
///   part  = u32 ops, u32 ops without dependencies, those ops (u32 each), the ops, u32[] targets of all edges
///   op    = u32 number of its dependencies, u8 kind (1 send, 2 recv, 3 calc), u32 peer, u64 bytes or ns, u32 tag,
///           u8 cpu, u8 nic, u32 number and u32 first target of those that wait for its end, likewise for its start
///
/// A reduction is a calc of bytes / reduce_bytes_per_s: unlike the text, this form has no comments.
/// @throws InvalidInput  if the program has what 32 bits do not hold.
std::string to_goal_binary(const Program&, double reduce_bytes_per_s = std::numeric_limits<double>::infinity());

/// Lost and refused: as in program_from_goal().
/// @throws InvalidInput  naming `source_name` and the byte, what was found and is accepted. Survives any bytes.
Program program_from_goal_binary(std::string_view bytes, const std::string& source_name = "program");

}  // namespace hocket
