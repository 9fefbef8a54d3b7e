// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "hocket/program/program.hpp"

namespace hocket {

/// Programs as text in the Group Operation Assembly Language [Hoefler09], as the simulator LogGOPSim reads it
/// [Hoefler10]:
///
///     num_ranks 2
///     rank 0 {
///     l1: calc 100
///     l2: send 10b to 1 tag 0
///     l2 requires l1
///     }
///
/// with calc in ns. It knows no reduction: one is written as the comment `// reduce 1000b` and a calc of bytes /
/// reduce_bytes_per_s, from which program_from_goal() makes a reduce again; and no circuits: `// connect 1` and
/// `// disconnect 1` stand before a calc of 0. Times are rounded to whole ns; all else comes back as it was.
std::string to_goal(const Program&, double reduce_bytes_per_s = std::numeric_limits<double>::infinity());

/// Reads what to_goal() writes and what LogGOPSim reads, with comments (// and /* */) and labels that follow their use.
/// Lost:
///   cpu, nic             read and dropped: what a rank does at the same time is a matter of dependencies alone
///   l1 irequires l2      l1 starts no earlier than l2: both wait for a calc 0 that waits for all that l2 requires
/// Refused: the wildcards `from -1` and `tag -1`.
/// @throws InvalidInput  naming `source_name` and the line, what was found and is accepted. Survives any bytes.
Program program_from_goal(std::string_view text, std::string_view source_name = "program");

}  // namespace hocket
