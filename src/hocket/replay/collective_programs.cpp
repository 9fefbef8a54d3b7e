// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/collective_programs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/collectives/textbook.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/replay/direct_messages.hpp"

namespace hocket::replay {

namespace {
constexpr std::size_t most_kept_ops = 1 << 20;  // twice, some 100 MB
}  // namespace

const RankProgram* CollectivePrograms::part(const CollectiveCall& call) {
    if (!call.remote.empty()) {
        if (const RankProgram* composed = between_groups(call)) return composed;
    } else if (const auto collective = find_collective(call.name)) {
        return &scheduled(*collective, call);
    } else if (call.name == "reduce_scatter" && !call.received.empty() &&
               std::ranges::min(call.received) == std::ranges::max(call.received)) {
        return &scheduled(Collective::reduce_scatter_block, call, call.received.front());
    }
    return add_direct(call, scratch_) ? &scratch_ : nullptr;
}

const RankProgram& CollectivePrograms::scheduled(Collective collective, const CollectiveCall& call,
                                                 std::int64_t bytes) {
    return scheduled(
        collective,
        {call.name, call.group, call.members, call.rank, bytes, 0, {}, {}, {}, nullptr, !call.remote.empty()});
}

const RankProgram& CollectivePrograms::scheduled(Collective collective, const CollectiveCall& call) {
    const Key key{collective, call.group, call.bytes, call.root, call.rank};
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
    if (num_ops_ > most_kept_ops) {
        older_parts_ = std::move(parts_);
        parts_.clear();
        num_ops_ = 0;
    }
    auto part = older_parts_.extract(key);
    const auto kept =
        part.empty() ? parts_.emplace(key, made(collective, call)).first : parts_.insert(std::move(part)).position;
    num_ops_ += kept->second.ops.size();
    return kept->second;
}

RankProgram CollectivePrograms::made(Collective collective, const CollectiveCall& call) const {
    const auto num_ranks = static_cast<std::int32_t>(call.members.size());
    const Rank root{is_rooted(collective) ? std::clamp(call.root, 0, num_ranks - 1) : 0};
    const PlanEntry* entry =
        call.is_inner ? nullptr : entry_for(plan_, collective, call.members, call.bytes, root.value);
    double scale = 1;
    if (entry == nullptr && !call.is_inner) {
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
        const auto name = collectives::textbook_algorithm(collective, num_ranks, call.bytes);
        return PlannedSchedule(collectives::find_algorithm(collective, name), num_ranks);
    };
    const PlannedSchedule planned = entry != nullptr ? entry->schedule : textbook();
    const PlannedPart part = part_of(planned, root, Rank{call.rank}, segments_of(planned, call.bytes));
    const auto bytes = static_cast<std::int64_t>(std::llround(scale * static_cast<double>(call.bytes)));
    return lower_rank(part.schedule, collective, num_ranks, part.segments, bytes);
}

/// As MPICH and Open MPI do it: within each group by a collective with its rank 0, and between these two.
const RankProgram* CollectivePrograms::between_groups(const CollectiveCall& call) {
    const auto p = static_cast<std::int64_t>(call.members.size()), q = static_cast<std::int64_t>(call.remote.size());
    const auto leader = static_cast<std::size_t>(p), root = leader + static_cast<std::size_t>(std::max(call.root, 0));
    const bool leads = call.rank == 0, is_root = call.root == -3;
    PartBuilder part(scratch_);
    const auto within = [&](Collective collective, std::int64_t bytes) {
        if (p > 1) part.graft(scheduled(collective, call, bytes));
        part.await();
    };
    const auto exchange = [&](std::int64_t sent, std::int64_t received) {
        if (!leads) return;
        part.send(leader, sent);
        part.recv(leader, received);
        part.await();
    };
    if (call.name == "barrier") {
        within(Collective::barrier, 0);
        exchange(0, 0);
        within(Collective::bcast, 0);
    } else if (call.name == "allreduce") {
        within(Collective::reduce, call.bytes);
        exchange(call.bytes, call.bytes);
        within(Collective::bcast, call.bytes);
    } else if (call.name == "reduce_scatter_block") {
        within(Collective::reduce, p * call.bytes);
        exchange(p * call.bytes, p * call.bytes);
        within(Collective::scatter, call.bytes);
    } else if (call.name == "reduce_scatter") {
        const std::int64_t all = std::accumulate(call.received.begin(), call.received.end(), std::int64_t{0});
        within(Collective::reduce, all);
        exchange(all, all);
        for (std::size_t i = 1; leads && i < std::min(call.received.size(), leader); ++i)
            part.send(i, call.received[i]);
        if (!leads) part.recv(0, call.bytes);
    } else if (call.name == "bcast" || call.name == "scatter") {
        const bool scatters = call.name == "scatter";
        if (is_root) part.send(leader, scatters ? q * call.bytes : call.bytes);
        if (call.root < 0) return &scratch_;
        if (leads) part.recv(root, scatters ? p * call.bytes : call.bytes);
        part.await();
        within(scatters ? Collective::scatter : Collective::bcast, call.bytes);
    } else if (call.name == "reduce" || call.name == "gather") {
        const bool gathers = call.name == "gather";
        if (is_root) part.recv(leader, gathers ? q * call.bytes : call.bytes);
        if (call.root < 0) return &scratch_;
        within(gathers ? Collective::gather : Collective::reduce, call.bytes);
        if (leads) part.send(root, gathers ? p * call.bytes : call.bytes);
    } else {
        return nullptr;
    }
    return &scratch_;
}

}  // namespace hocket::replay
