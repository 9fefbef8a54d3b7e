// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/broadcast.hpp"

#include "hocket/search/beam.hpp"
#include "hocket/search/best_first.hpp"
#include "hocket/search/improve.hpp"
#include "hocket/search/list_schedule.hpp"

namespace hocket::search {
namespace {

/// To the earliest end that the bound does not exclude.
void raise_lower_bound(const State& root, Bound& bound, Watch& watch) {
    std::int64_t low = watch.lower_bound_ns(), high = watch.makespan_ns();
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (bound.of(root, never, middle) > middle)
            low = middle + 1;
        else
            high = middle;
    }
    watch.raise_lower_bound(low);
}

/// List schedules that aim at several ends, the bound first. There is a schedule even if the watch says stop.
void make_list_schedules(const Tree& tree, const State& root, Bound& bound, Watch& watch) {
    ListSchedule list(tree, bound);
    const auto aim_at = [&](std::int64_t target) {
        State state = root;
        list.complete(state, target, never);
        watch.keep(state);
        return state.end_ns();
    };
    aim_at(watch.lower_bound_ns());
    raise_lower_bound(root, bound, watch);
    if (watch.done_and_tell()) return;
    std::int64_t low = watch.lower_bound_ns();
    for (std::int64_t target = low, i = 0; i < 12 && low < watch.makespan_ns() && !watch.done_and_tell(); ++i) {
        if (aim_at(target) > target) low = target + 1;
        target = low + (watch.makespan_ns() - low) / 2;
    }
}

void exhaust(State& state, std::int64_t& best) {
    if (state.end_ns() >= best) return;
    if (state.complete()) {
        best = state.end_ns();
        return;
    }
    const std::int32_t n = state.tree().num_computers();
    for (std::int32_t s = 0; s < n; ++s)
        for (std::int32_t r = 0; r < n; ++r)
            if (state.informed(s) && !state.informed(r)) {
                state.add(s, r, state.earliest_start(s, r));
                exhaust(state, best);
                state.take_back();
            }
}

}  // namespace

BroadcastResult fastest_broadcast(const Tree& tree, std::span<const std::int32_t> holders,
                                  const BroadcastOptions& options) {
    Watch watch(options);
    const State root(tree, holders);
    BroadcastResult result;
    std::int64_t any_starts_ns = 0;
    {
        Bound bound(tree);
        Candidates candidates(tree);
        watch.raise_lower_bound(bound.of(root));
        make_list_schedules(tree, root, bound, watch);
        if (options.beam_width > 0 && !watch.done_and_tell()) beam_search(tree, root, bound, candidates, 1, watch);
        any_starts_ns = watch.lower_bound_ns();
        if (!watch.done_and_tell()) BestFirst(tree, root, watch).run(100);  // mostly enough for a small tree
        if (!watch.done_and_tell()) improve(root, watch);
        for (std::int32_t width = 4; width <= options.beam_width && !watch.done_and_tell(); width *= 4)
            beam_search(tree, root, bound, candidates, width, watch);
    }
    result.lower_bound_any_starts_ns = any_starts_ns;
    if (!watch.done_and_tell()) BestFirst(tree, root, watch).run();
    result.transfers = watch.take_transfers();
    result.makespan_ns = watch.makespan_ns();
    result.lower_bound_ns = watch.lower_bound_ns();
    result.optimal = result.lower_bound_ns == result.makespan_ns;
    if (!tree.has_delays()) result.lower_bound_any_starts_ns = result.lower_bound_ns;
    result.num_nodes = watch.num_nodes();
    result.search_s = watch.seconds();
    return result;
}

std::int64_t fastest_broadcast_by_exhaustion(const Tree& tree, std::span<const std::int32_t> holders) {
    State state(tree, holders);
    std::int64_t best = never;
    exhaust(state, best);
    return best;
}

}  // namespace hocket::search
