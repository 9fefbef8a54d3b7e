// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/program/op_stream.hpp"

namespace hocket::replay {

/// Which ops of a rank's Program come from which of its calls, so that simulated times of ops are times of calls.
struct CallOps {
    struct Range {
        std::int32_t first, end;
    };
    /// A send or a receive, and the call that returns when it is complete.
    struct Completed {
        std::int32_t op, call;
    };
    std::vector<Range> computed;  ///< [call] ops of the computation since the call before
    std::vector<Range> begun;     ///< [call] ops that it adds
    std::vector<Range> before;    ///< [call] into `awaited`: it is entered when these have ended
    std::vector<Range> after;     ///< [call] into `awaited`: it returns when these have ended
    std::vector<std::int32_t> awaited;
    std::vector<Completed> completed;

    /// What awaits these ops.
    Range add(std::span<const OpSink::Op> ops) {
        const auto first = static_cast<std::int32_t>(awaited.size());
        for (const OpSink::Op op : ops) awaited.push_back(static_cast<std::int32_t>(op));
        return {first, static_cast<std::int32_t>(awaited.size())};
    }
};

}  // namespace hocket::replay
