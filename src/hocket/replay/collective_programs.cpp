// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/collective_programs.hpp"

#include <algorithm>
#include <cmath>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/replay/textbook.hpp"

namespace hocket::replay {

namespace {

void add(RankProgram& part, ProgramOpKind kind, std::size_t peer, std::int64_t bytes, std::int32_t after = -1) {
    ProgramOp op{};
    op.kind = kind;
    op.peer = Rank{static_cast<std::int32_t>(peer)};
    op.bytes = bytes;
    if (after >= 0) {
        part.add(op, {{after}});
    } else {
        part.add(op);
    }
}

}  // namespace

const RankProgram* CollectivePrograms::part(const CollectiveCall& call) {
    const auto self = static_cast<std::size_t>(call.rank);
    if (const auto collective = find_collective(call.name)) {
        return &scheduled(*collective, call).ranks[self];
    }
    if (call.name == "reduce_scatter") {  // the blocks of all ranks, the same list on each of them
        if (call.received.empty()) {
            return nullptr;
        }
        CollectiveCall even = call;
        even.bytes = *std::ranges::max_element(call.received);
        return &scheduled(Collective::reduce_scatter_block, even).ranks[self];
    }
    if (call.name == "scan" || call.name == "exscan") {
        return chain(call);
    }
    return direct(call);
}

const Program& CollectivePrograms::scheduled(Collective collective, const CollectiveCall& call) {
    const Key key{collective, call.members, call.bytes, call.root};
    const auto found = programs_.find(key);
    if (found != programs_.end()) {
        return found->second;
    }
    const auto num_ranks = static_cast<std::int32_t>(call.members.size());
    const Rank root{is_rooted(collective) ? std::clamp(call.root, 0, num_ranks - 1) : 0};
    const PlanEntry* entry = entry_for(plan_, collective, call.members, call.bytes, root.value);
    double scale = 1;
    if (entry == nullptr) {
        const auto model = std::ranges::find_if(native_, [&](const NativeModel& one) {
            return one.entry.collective == collective && serves_call(one.entry, call.bytes, root.value) &&
                   serves_members(one.entry, call.members);
        });
        if (model != native_.end()) {
            entry = &model->entry;
            scale = model->scale;
        }
    }
    const auto textbook = [&] {
        const auto name = textbook_algorithm(collective, num_ranks, call.bytes);
        return PlannedSchedule(collectives::find_algorithm(collective, name), num_ranks);
    };
    const PlannedSchedule planned = entry != nullptr ? entry->schedule : textbook();
    const Schedule schedule = whole_schedule(planned, root, segments_of(planned, call.bytes));
    const auto bytes = static_cast<std::int64_t>(std::llround(scale * static_cast<double>(call.bytes)));
    return programs_.emplace(key, lower(schedule, bytes)).first->second;
}

/// Each block straight from its owner to where it belongs. What a rank cannot know about the others' sizes it need not
/// know: both ends of a message are told its size.
const RankProgram* CollectivePrograms::direct(const CollectiveCall& call) {
    scratch_ = {};
    const std::size_t p = call.members.size(), self = static_cast<std::size_t>(call.rank);
    const auto peer_after = [&](std::size_t i) { return (self + i) % p; };
    const bool is_root = call.rank == call.root;
    if (call.name == "gatherv" && !is_root) {
        add(scratch_, ProgramOpKind::send, static_cast<std::size_t>(call.root), call.bytes);
    } else if (call.name == "scatterv" && !is_root) {
        add(scratch_, ProgramOpKind::recv, static_cast<std::size_t>(call.root), call.bytes);
    } else if (call.name == "gatherv" || call.name == "allgatherv" || call.name == "alltoallv" ||
               call.name == "alltoallw" || call.name == "scatterv") {
        for (std::size_t i = 1; i < p; ++i) {
            const std::size_t to = peer_after(i);
            if (call.name == "allgatherv") {
                add(scratch_, ProgramOpKind::send, to, call.bytes);
            } else if (to < call.sent.size()) {
                add(scratch_, ProgramOpKind::send, to, call.sent[to]);
            }
        }
        for (std::size_t i = 1; i < p; ++i) {
            const std::size_t from = peer_after(p - i);
            if (from < call.received.size()) {
                add(scratch_, ProgramOpKind::recv, from, call.received[from]);
            }
        }
    } else {
        return nullptr;
    }
    return &scratch_;
}

/// Rank r passes the result of ranks 0 .. r on.
const RankProgram* CollectivePrograms::chain(const CollectiveCall& call) {
    scratch_ = {};
    const auto self = static_cast<std::size_t>(call.rank);
    if (self > 0) {
        add(scratch_, ProgramOpKind::recv, self - 1, call.bytes);
    }
    if (self + 1 < call.members.size()) {
        add(scratch_, ProgramOpKind::send, self + 1, call.bytes, self > 0 ? 0 : -1);
    }
    return &scratch_;
}

}  // namespace hocket::replay
