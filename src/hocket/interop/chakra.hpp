// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <span>
#include <string>
#include <vector>

#include "hocket/interop/source.hpp"
#include "hocket/program/program.hpp"

namespace hocket::interop {

/// Whether a file may be an execution trace of Chakra: it has no magic number, so its first messages are looked at.
bool is_chakra(std::string_view bytes);

struct ForeignProgram {
    Program program;
    std::vector<std::string> notes;  ///< what was left out or assumed, a line each
};

/// Chakra execution traces (schema/protobuf/et_def.proto of mlcommons/chakra), one file a rank in the order of the
/// ranks. A node becomes an op that starts after the nodes whose data it depends on, as Chakra's own feeder has it; a
/// collective becomes the messages of the algorithm that MPIs usually choose, on all ranks, with sizes as ASTRA-sim
/// takes them.
/// @throws InvalidInput  naming the file and the byte or the node. Survives any bytes.
ForeignProgram read_chakra(std::span<const Source> files);

/// The file of each rank. Durations are whole microseconds in this format; each node has the attribute duration_ns
/// beside them, which read_chakra() prefers. A reduction is a computation of no duration with the attribute
/// reduce_bytes.
std::vector<std::string> to_chakra(const Program&);

}  // namespace hocket::interop
