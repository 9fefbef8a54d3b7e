// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hocket/trace/rank_file.hpp"

/// Members of communicators, from the calls that made them. Formats without tables of communicators have only these.
namespace hocket::interop {

struct Creation {
    enum class Kind : std::uint8_t {
        dup,    ///< all of the parent, in its order
        split,  ///< by color, in the order of key
        group,  ///< `ranks` in the communicator `base`
        grid,   ///< the first so many of the parent as `dims` have points
        slice,  ///< of a parent that was made as a grid: `keeps` says for each dimension whether it stays
        unknown,
    };
    Kind kind;
    std::int32_t parent;     ///< number in the rank's file; -1: unknown
    std::int32_t made = -1;  ///< likewise; -1: MPI_COMM_NULL
    std::int32_t made_by = -1;
    std::int32_t color = -1, key = 0;  ///< negative: the rank becomes no member
    std::vector<std::int32_t> ranks = {};
    std::int32_t base = 0;  ///< number in the rank's file
    std::vector<std::int32_t> dims = {}, keeps = {};
};

/// The creations of one rank in order, and its file, whose communicators 0 and 1 are MPI_COMM_WORLD and MPI_COMM_SELF.
struct RankCreations {
    trace::RankFile* file;
    std::span<const Creation> creations;
};

/// Fills the members of all communicators that can be found out. Creation is collective: the n-th on a communicator is
/// the same on all its members. Gives how many are left without members.
std::int64_t find_members(std::span<const RankCreations>);

}  // namespace hocket::interop
