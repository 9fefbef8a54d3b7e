// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/program/op_stream.hpp"
#include "hocket/program/program.hpp"

namespace hocket::replay {

/// Adds the ops of a program as an MPI program runs: each rank does one thing after another, and what a non-blocking
/// call has begun goes on beside it until it is awaited.
class ProgramBuilder {
public:
    using Op = OpSink::Op;
    using Tag = OpSink::Tag;
    /// Ops that a call has begun; awaited at once by a blocking call, later by a non-blocking one.
    using Pending = std::vector<Op>;

    ProgramBuilder(OpSink& to, std::int32_t num_ranks) : to_(to), frontier_(static_cast<std::size_t>(num_ranks)) {}

    void compute(Rank rank, double seconds);
    Pending send(Rank rank, Rank to, Tag tag, std::int64_t bytes);
    Pending recv(Rank rank, Rank from, Tag tag, std::int64_t bytes);
    /// Adds what one rank does in a smaller program whose rank i is `members[i]`, as its part in the collective
    /// `number` of those with this tag; all its messages get the tag.
    Pending graft(Rank rank, const RankProgram& part, std::span<const Rank> members, Tag tag, std::int32_t number);
    /// What goes on at a rank beside its calls, such as what a message to its memory causes: starts after `after`
    /// alone.
    Op beside(Rank rank, const ProgramOp& op, Tag tag, std::span<const Op> after = {}) {
        return to_.add(rank, op, tag, after);
    }
    /// What an op has to wait for that is to start after the rank's calls so far and `pending`.
    [[nodiscard]] Pending behind(Rank rank, const Pending& pending) const {
        Pending all = frontier_[rank.at()];
        all.insert(all.end(), pending.begin(), pending.end());
        return all;
    }
    /// What the rank does from now on starts after `pending`.
    void await(Rank rank, const Pending& pending);
    /// Whether the rank has to wait now; if so, its calls go on later.
    [[nodiscard]] bool waits(Rank rank) { return to_.waits(rank, frontier_[rank.at()]); }

    /// What the rank's next op starts after.
    [[nodiscard]] const Pending& frontier(Rank rank) const { return frontier_[rank.at()]; }
    /// That were added.
    [[nodiscard]] std::int64_t num_ops(Rank rank) const { return to_.num_added(rank); }

private:
    Pending message(Rank rank, ProgramOpKind kind, Rank peer, Tag tag, std::int64_t bytes);

    OpSink& to_;
    std::vector<Pending> frontier_;  ///< [rank] ops that the next one starts after
    std::vector<Op> grafted_;        ///< of the part at hand
    std::vector<bool> awaited_;      ///< likewise: by another op of it
    Pending after_;
};

}  // namespace hocket::replay
