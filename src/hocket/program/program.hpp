// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket {

enum class ProgramOpKind : std::uint8_t {
    send,     ///< to peer, bytes, tag
    recv,     ///< from peer, bytes, tag
    compute,  ///< seconds
    reduce,   ///< bytes combined locally
};

struct ProgramOp {
    ProgramOpKind kind;
    Rank peer;              ///< send, recv
    std::int32_t tag = 0;   ///< send, recv; messages of equal (source, target, tag) match in the order of the ops
    std::int64_t bytes = 0; ///< send, recv, reduce
    double seconds = 0;     ///< compute
    std::int32_t first_dependency = 0, num_dependencies = 0;  ///< into RankProgram::dependencies
};

struct RankProgram {
    std::vector<ProgramOp> ops;
    std::vector<std::int32_t> dependencies;  ///< op indices of the same rank; any order, no cycle
};

/// Per rank, a DAG of operations with sizes, free of links and times of arrival. An op starts when its dependencies are done.
struct Program {
    std::vector<RankProgram> ranks;
};

}  // namespace hocket
