// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/program/program.hpp"

namespace hocket::replay {

/// Builds a Program as an MPI program runs: each rank does one thing after another, and what a non-blocking call has
/// begun goes on beside it until it is awaited.
class ProgramBuilder {
public:
    /// Ops that a call has begun; awaited at once by a blocking call, later by a non-blocking one.
    using Pending = std::vector<std::int32_t>;

    explicit ProgramBuilder(std::int32_t num_ranks)
        : program_{std::vector<RankProgram>(num_ranks)}, frontier_(num_ranks) {}

    void compute(Rank rank, double seconds);
    Pending send(Rank rank, Rank to, std::int32_t tag, std::int64_t bytes);
    Pending recv(Rank rank, Rank from, std::int32_t tag, std::int64_t bytes);
    /// Adds what one rank does in a smaller program whose rank i is `members[i]`, as its part in `collective`; all its
    /// messages get `tag`.
    Pending graft(Rank rank, const RankProgram& part, std::span<const Rank> members, std::int32_t tag,
                  std::int32_t collective);
    /// What goes on at a rank beside its calls, such as what a message to its memory causes: starts after `after` alone.
    std::int32_t beside(Rank rank, const ProgramOp& op, std::span<const std::int32_t> after = {}) {
        return program_.ranks[rank.at()].add(op, after);
    }
    /// What an op has to wait for that is to start after the rank's calls so far and `pending`.
    [[nodiscard]] Pending behind(Rank rank, const Pending& pending) const {
        Pending all = frontier_[rank.at()];
        all.insert(all.end(), pending.begin(), pending.end());
        return all;
    }
    /// What the rank does from now on starts after `pending`.
    void await(Rank rank, const Pending& pending);

    /// What the rank's next op starts after.
    [[nodiscard]] const Pending& frontier(Rank rank) const { return frontier_[rank.at()]; }
    [[nodiscard]] std::int32_t num_ops(Rank rank) const {
        return static_cast<std::int32_t>(program_.ranks[rank.at()].ops.size());
    }

    [[nodiscard]] Program take() { return std::move(program_); }

private:
    Program program_;
    std::vector<Pending> frontier_;  ///< [rank] ops that the next one starts after
};

/// Programs side by side: rank i of programs[j] becomes rank members[j][i] of `num_ranks`; the other ranks do nothing.
/// @throws InvalidInput  if the members of a program are not distinct ranks below num_ranks, one for each of its ranks, or
///         programs share one.
Program place_all(std::span<const Program* const> programs, std::span<const std::vector<Rank>> members,
                  std::int32_t num_ranks);

/// The program with its rank i moved to rank `members[i]` of `num_ranks`; the other ranks do nothing.
/// @throws InvalidInput  if members are not distinct ranks below num_ranks, one for each rank of the program.
Program place(const Program&, std::span<const Rank> members, std::int32_t num_ranks);

}  // namespace hocket::replay
