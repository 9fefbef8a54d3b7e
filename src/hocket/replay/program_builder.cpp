// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/program_builder.hpp"

#include "hocket/base/error.hpp"

namespace hocket::replay {

namespace {
// A frontier wider than this becomes one op that takes no time: each later op depends on all of it.
constexpr std::size_t widest_frontier = 4;
}  // namespace

void ProgramBuilder::compute(Rank rank, double seconds) {
    ProgramOp op{};
    op.kind = ProgramOpKind::compute;
    op.seconds = seconds;
    Pending& frontier = frontier_[rank.at()];
    frontier.assign(1, to_.add(rank, op, 0, frontier));
}

ProgramBuilder::Pending ProgramBuilder::message(Rank rank, ProgramOpKind kind, Rank peer, Tag tag, std::int64_t bytes) {
    ProgramOp op{};
    op.kind = kind;
    op.peer = peer;
    op.bytes = bytes;
    return {to_.add(rank, op, tag, frontier_[rank.at()])};
}

ProgramBuilder::Pending ProgramBuilder::send(Rank rank, Rank to, Tag tag, std::int64_t bytes) {
    return message(rank, ProgramOpKind::send, to, tag, bytes);
}

ProgramBuilder::Pending ProgramBuilder::recv(Rank rank, Rank from, Tag tag, std::int64_t bytes) {
    return message(rank, ProgramOpKind::recv, from, tag, bytes);
}

ProgramBuilder::Pending ProgramBuilder::graft(Rank rank, const RankProgram& part, std::span<const Rank> members,
                                              Tag tag, std::int32_t number) {
    grafted_.clear();
    awaited_.assign(part.ops.size(), false);
    for (const ProgramOp& op : part.ops) {
        after_.clear();
        for (const std::int32_t dependency : part.dependencies_of(op)) {
            HOCKET_ASSERT(static_cast<std::size_t>(dependency) < grafted_.size(),
                          "lowered in the order of dependencies");
            awaited_[static_cast<std::size_t>(dependency)] = true;
            after_.push_back(grafted_[static_cast<std::size_t>(dependency)]);
        }
        ProgramOp moved = op;
        if (is_message(op.kind)) moved.peer = members[op.peer.at()];
        grafted_.push_back(to_.add(rank, moved, tag, after_.empty() ? frontier_[rank.at()] : after_));
    }
    if (!part.ops.empty()) to_.mark_collective(rank, tag, number, static_cast<std::int32_t>(part.ops.size()));
    Pending last;
    for (std::size_t i = 0; i < awaited_.size(); ++i)
        if (!awaited_[i]) last.push_back(grafted_[i]);
    return last;
}

void ProgramBuilder::await(Rank rank, const Pending& pending) {
    // What was begun earlier may end before what was done since, so both stay.
    Pending& frontier = frontier_[rank.at()];
    frontier.insert(frontier.end(), pending.begin(), pending.end());
    if (frontier.size() <= widest_frontier) return;
    ProgramOp join{};
    join.kind = ProgramOpKind::compute;
    frontier.assign(1, to_.add(rank, join, 0, frontier));
}

}  // namespace hocket::replay
