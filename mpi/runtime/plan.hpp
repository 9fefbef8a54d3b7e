// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/schedule.hpp"

/// The plan file, format "hocket.plan/2": which Schedule serves which collective call. Files of format 1 are read too.
namespace hocket::runtime {

struct PlanEntry {
    Collective collective;
    std::vector<int> members;                     ///< world ranks in communicator order
    std::vector<std::vector<int>> other_members;  ///< communicators of the same shape that the entry serves too
    std::int64_t bytes_min;  ///< message of bcast, reduce, allreduce; block of one rank for the others; 0 for barrier
    std::int64_t bytes_max;
    std::optional<Rank> root;                           ///< none = any root
    const collectives::Algorithm* algorithm = nullptr;  ///< none = `custom`
    std::int32_t pieces = 1;         ///< as the algorithm is asked for, unless segments are given in bytes
    std::int64_t segment_bytes = 0;  ///< the most that a segment has; 0 = `pieces` says how many there are
    std::vector<Rank> order;
    std::shared_ptr<const Schedule> custom;
    double native_per_tuned =
        0;  ///< time of a native call over that of a call by the schedule, as measured; 0 = not known
    bool reproducible = false;  ///< every call is to be combined in the same order

    /// "bcast 1000000 B on 8 ranks: pipelined_chain, 64 pieces"
    [[nodiscard]] std::string description() const;
    [[nodiscard]] std::int32_t num_ranks() const { return static_cast<std::int32_t>(members.size()); }
    [[nodiscard]] bool serves_members(const std::vector<int>& of) const;
    /// What the algorithm is asked for in a call of so many bytes.
    [[nodiscard]] std::int32_t pieces_of(std::int64_t bytes) const;
    /// The part of rank `self` of the communicator when `root` is the root, with what pieces_of() says.
    [[nodiscard]] RankSchedule rank_schedule(Rank root, Rank self, std::int32_t asked_pieces) const;
    /// Schedule::pieces of that.
    [[nodiscard]] std::int32_t schedule_pieces(std::int32_t asked_pieces) const;
    /// Whether a non-commutative operator gives the right result. Executes the whole schedule symbolically, so it is asked
    /// only when such an operator comes; schedules too large for that count as not preserving the order.
    [[nodiscard]] bool preserves_order(Rank root) const;
};

struct Plan {
    std::int32_t num_ranks;
    std::vector<PlanEntry> entries;    ///< one that names a root goes before one for any root
    std::vector<std::string> hosts{};  ///< of each rank when the plan was made; empty = not known
};

/// A larger plan is refused before it is read: a program must not fill its memory with a file that is no plan. As in
/// python/hocket/plan.py.
constexpr std::size_t max_plan_bytes = std::size_t{64} << 20;

/// The text of a plan file.
/// @throws InvalidInput  if it cannot be read, is empty, or is larger than that
std::string read_plan_file(const std::string& path);

/// @throws InvalidInput  naming `source` and the entry and key at fault. Survives any bytes.
Plan parse_plan(std::string_view text, std::string_view source);

}  // namespace hocket::runtime
