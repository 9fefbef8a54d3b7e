// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/program_builder.hpp"

#include <algorithm>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::replay {

namespace {
// A frontier wider than this becomes one op that takes no time: each later op depends on all of it.
constexpr std::size_t widest_frontier = 4;
}  // namespace

void ProgramBuilder::compute(Rank rank, double seconds) {
    if (!(seconds > 0)) {
        return;
    }
    ProgramOp op{};
    op.kind = ProgramOpKind::compute;
    op.seconds = seconds;
    frontier_[rank.at()] = {program_.ranks[rank.at()].add(op, frontier_[rank.at()])};
}

ProgramBuilder::Pending ProgramBuilder::send(Rank rank, Rank to, std::int32_t tag, std::int64_t bytes) {
    ProgramOp op{};
    op.kind = ProgramOpKind::send;
    op.peer = to;
    op.tag = tag;
    op.bytes = bytes;
    return {program_.ranks[rank.at()].add(op, frontier_[rank.at()])};
}

ProgramBuilder::Pending ProgramBuilder::recv(Rank rank, Rank from, std::int32_t tag, std::int64_t bytes) {
    ProgramOp op{};
    op.kind = ProgramOpKind::recv;
    op.peer = from;
    op.tag = tag;
    op.bytes = bytes;
    return {program_.ranks[rank.at()].add(op, frontier_[rank.at()])};
}

ProgramBuilder::Pending ProgramBuilder::graft(Rank rank, const RankProgram& part, std::span<const Rank> members,
                                              std::int32_t tag, std::int32_t collective) {
    const auto offset = static_cast<std::int32_t>(program_.ranks[rank.at()].ops.size());
    std::vector<bool> awaited(part.ops.size(), false);
    std::vector<std::int32_t> after;
    for (const ProgramOp& op : part.ops) {
        after.clear();
        for (std::int32_t d = 0; d < op.num_dependencies; ++d) {
            const std::int32_t dependency = part.dependencies[static_cast<std::size_t>(op.first_dependency + d)];
            awaited[static_cast<std::size_t>(dependency)] = true;
            after.push_back(offset + dependency);
        }
        if (after.empty()) {
            after = frontier_[rank.at()];
        }
        ProgramOp moved = op;
        if (op.kind == ProgramOpKind::send || op.kind == ProgramOpKind::recv) {
            moved.peer = members[op.peer.at()];
            moved.tag = tag;
        }
        program_.ranks[rank.at()].add(moved, after);
    }
    if (!part.ops.empty())
        program_.ranks[rank.at()].calls.push_back({collective, offset, static_cast<std::int32_t>(part.ops.size())});
    Pending last;
    for (std::size_t i = 0; i < awaited.size(); ++i) {
        if (!awaited[i]) {
            last.push_back(offset + static_cast<std::int32_t>(i));
        }
    }
    return last;
}

void ProgramBuilder::await(Rank rank, const Pending& pending) {
    // What was begun earlier may end before what was done since, so both stay.
    Pending& frontier = frontier_[rank.at()];
    frontier.insert(frontier.end(), pending.begin(), pending.end());
    if (frontier.size() <= widest_frontier) {
        return;
    }
    ProgramOp join{};
    join.kind = ProgramOpKind::compute;
    frontier = {program_.ranks[rank.at()].add(join, frontier)};
}

Program place(const Program& program, std::span<const Rank> members, std::int32_t num_ranks) {
    const Program* const one = &program;
    const std::vector<Rank> list(members.begin(), members.end());
    return place_all({&one, 1}, {&list, 1}, num_ranks);
}

Program place_all(std::span<const Program* const> programs, std::span<const std::vector<Rank>> members,
                  std::int32_t num_ranks) {
    HOCKET_ASSERT(programs.size() == members.size(), "each program has its members");
    Program placed{std::vector<RankProgram>(static_cast<std::size_t>(num_ranks))};
    std::vector<bool> taken(placed.ranks.size());
    std::int32_t num_collectives = 0;  // of the programs before: a collective has a number of its own
    for (std::size_t j = 0; j < programs.size(); ++j) {
        const Program& program = *programs[j];
        if (members[j].size() != program.ranks.size())
            throw InvalidInput("a program of " + std::to_string(program.ranks.size()) + " ranks cannot be placed on " +
                               std::to_string(members[j].size()) + " members");
        std::int32_t most = -1;
        for (std::size_t i = 0; i < members[j].size(); ++i) {
            const Rank rank = members[j][i];
            if (rank.value < 0 || rank.value >= num_ranks)
                throw InvalidInput("member " + std::to_string(rank.value) + ": accepted are ranks 0 to " +
                                   std::to_string(num_ranks - 1));
            if (taken[rank.at()]) throw InvalidInput("member " + std::to_string(rank.value) + " occurs twice");
            taken[rank.at()] = true;
            RankProgram& part = placed.ranks[rank.at()];
            part = program.ranks[i];
            for (ProgramOp& op : part.ops)
                if (op.kind == ProgramOpKind::send || op.kind == ProgramOpKind::recv)
                    op.peer = members[j].at(op.peer.at());
            for (RankProgram::Call& call : part.calls) {
                most = std::max(most, call.collective);
                call.collective += num_collectives;
            }
        }
        num_collectives += most + 1;
    }
    return placed;
}

}  // namespace hocket::replay
