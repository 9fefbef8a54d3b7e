// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/replay.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "hocket/replay/rank_replay.hpp"

namespace hocket::replay {

namespace {

using trace::Call;

/// Gives each receive the size of its message, for a rank cannot always know it, and turns what has no counterpart into
/// ops that do nothing: after a recording that was cut off.
void match_messages(Program& program, LeftOutCalls& left_out) {
    struct Channel {
        std::vector<ProgramOp*> sends, recvs;
    };
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Channel> channels;  // source, target, tag
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const auto rank = static_cast<std::int32_t>(r);
        for (ProgramOp& op : program.ranks[r].ops) {
            if (op.kind == ProgramOpKind::send) channels[{rank, op.peer.value, op.tag}].sends.push_back(&op);
            if (op.kind == ProgramOpKind::recv) channels[{op.peer.value, rank, op.tag}].recvs.push_back(&op);
        }
    }
    const auto leave_out = [&](std::vector<ProgramOp*>& ops, std::size_t first, const char* what, const char* why) {
        for (std::size_t i = first; i < ops.size(); ++i) {
            left_out.add(what, why, 1, ops[i]->bytes);
            ops[i]->kind = ProgramOpKind::compute;
            ops[i]->seconds = 0;
        }
    };
    for (auto& [place, channel] : channels) {
        const std::size_t matched = std::min(channel.sends.size(), channel.recvs.size());
        for (std::size_t i = 0; i < matched; ++i) channel.recvs[i]->bytes = channel.sends[i]->bytes;
        leave_out(channel.sends, matched, "messages sent", "their receives were not recorded");
        leave_out(channel.recvs, matched, "messages received", "their sends were not recorded");
    }
}

}  // namespace

ReplayState::ReplayState(const Trace& traced, const Plan& plan, const std::vector<NativeModel>& native,
                         const ReplayOptions& given)
    : trace(traced), options(given), programs(plan, native), builder(traced.num_ranks()) {
    if (options.call_ops) call_ops.resize(static_cast<std::size_t>(trace.num_ranks()));
    for (const std::string& function : trace.functions()) {
        kinds.push_back(kind_of(function));
        one_sided_kinds.push_back(one_sided_kind_of(function));
        collectives.push_back(trace::collective_of(function));
    }
    for (const trace::Communicator& communicator : trace.communicators()) {
        auto& ranks = ranks_in.emplace_back();
        for (const std::int32_t world : communicator.members)
            if (world >= 0) ranks[0].try_emplace(world, static_cast<std::int32_t>(ranks[0].size()));
        for (const std::int32_t world : communicator.remote)
            if (world >= 0) ranks[1].try_emplace(world, static_cast<std::int32_t>(ranks[1].size()));
    }
    find_span();
}

/// Of the first and the last call where MPI_Init and MPI_Finalize were not recorded.
void ReplayState::find_span() {
    start_ns = std::numeric_limits<std::int64_t>::max();
    end_ns = std::numeric_limits<std::int64_t>::min();
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) {
        const auto& calls = trace.rank(rank).calls;
        if (calls.empty()) continue;
        const Call& last = calls.back();
        const bool finalized = kinds[static_cast<std::size_t>(last.function)] == FunctionKind::finalize;
        start_ns = std::min(start_ns, calls.front().exit_ns);
        end_ns = std::max(end_ns, finalized ? last.enter_ns : last.exit_ns);
    }
    if (start_ns > end_ns) start_ns = end_ns = 0;
}

std::int32_t ReplayState::tag(std::int32_t communicator, std::int32_t mpi_tag) {
    return tags_.try_emplace({communicator, mpi_tag}, static_cast<std::int32_t>(tags_.size())).first->second;
}

std::int32_t ReplayState::collective_call(std::int32_t tag, std::int32_t before) {
    const auto number = static_cast<std::int32_t>(collective_calls_.size());
    return collective_calls_.try_emplace({tag, before}, number).first->second;
}

Replayed replay(const Trace& trace, const Plan& plan, const std::vector<NativeModel>& native,
                const ReplayOptions& options) {
    ReplayState state(trace, plan, native, options);
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) RankReplay(state, Rank{rank}).play();
    Program program = state.builder.take();
    match_messages(program, state.left_out);
    return {std::move(program), static_cast<double>(state.end_ns - state.start_ns) * 1e-9, state.left_out.rows(),
            state.start_ns, std::move(state.call_ops)};
}

}  // namespace hocket::replay
