// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/broadcast.hpp"

#include <algorithm>

#include "hocket/search/beam.hpp"
#include "hocket/search/best_first.hpp"
#include "hocket/search/cut_subtree.hpp"
#include "hocket/search/improve.hpp"
#include "hocket/search/list_schedule.hpp"

namespace hocket::search {
namespace {

/// To the earliest end that the bound does not exclude.
void raise_lower_bound(const State& root, Bound& bound, Watch& watch) {
    std::int64_t low = watch.lower_bound_ns(), high = watch.makespan_ns();
    while (low < high && !watch.done_and_tell()) {
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
        if (!list.complete(state, target, never, watch) && watch.transfers().empty()) list.complete_at_once(state);
        watch.keep(state);
        return state.complete() ? state.end_ns() : never;
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

std::vector<std::int64_t> find_subtree_bounds(const Tree&, const State& root, Watch&);

/// Returns the lower bound before any branching.
std::int64_t search(const Tree& tree, const State& root, Watch& watch, std::int32_t beam_width, bool use_subtrees) {
    Bound bound(tree);
    Candidates candidates(tree);
    watch.raise_lower_bound(bound.of(root));
    make_list_schedules(tree, root, bound, watch);
    const std::int64_t before_branching_ns = watch.lower_bound_ns();
    if (beam_width > 0 && !watch.done_and_tell()) beam_search(tree, root, bound, candidates, 1, watch);
    if (!watch.done_and_tell()) BestFirst(tree, root, watch).run(100);  // mostly enough for a small tree
    if (!watch.done_and_tell()) improve(root, watch);
    for (std::int32_t width = 4; width <= beam_width && !watch.done_and_tell(); width *= 4)
        beam_search(tree, root, bound, candidates, width, watch);
    std::vector<std::int64_t> subtree_ns;
    if (use_subtrees && !tree.has_delays()) {
        subtree_ns = find_subtree_bounds(tree, root, watch);
        if (!watch.stopped()) watch.raise_lower_bound(Bound(tree, subtree_ns).of(root));
    }
    if (!watch.done_and_tell()) BestFirst(tree, root, watch, subtree_ns).run();
    return before_branching_ns;
}

/// [link] as Bound uses it: what is behind, broadcast from where it is cut off [Hourai, sec. 4.6], by the same search. 0 if
/// that is large, or no bound.
std::vector<std::int64_t> find_subtree_bounds(const Tree& tree, const State& root, Watch& watch) {
    constexpr std::int64_t largest = 32, most_nodes = 2000;
    std::vector<std::int64_t> found(static_cast<std::size_t>(tree.num_links()), 0);
    for (std::int32_t link = 0; link < tree.num_links() && !watch.done_and_tell(); ++link) {
        if (link / 2 == tree.middle()) continue;
        const std::vector<bool> is_behind = computers_behind(tree, link);
        const auto size = std::count(is_behind.begin(), is_behind.end(), true);
        bool has_holder = false;
        for (std::size_t c = 0; c < is_behind.size(); ++c)
            has_holder = has_holder || (is_behind[c] && root.informed(static_cast<std::int32_t>(c)));
        if (has_holder || size < 2 || size > largest || !comes_at_full_rate(tree, link)) continue;
        const Tree subtree = subtree_behind(tree, link);
        BroadcastOptions options;
        options.max_nodes = most_nodes;
        options.time_limit_s = watch.options().time_limit_s - watch.seconds();
        options.on_progress = [&](const BroadcastProgress&) { return !watch.done_and_tell(); };
        Watch of_subtree(options);
        const std::int32_t cut = 0;
        const State start(subtree, {&cut, 1});
        search(subtree, start, of_subtree, 1, false);
        found[static_cast<std::size_t>(link)] = of_subtree.lower_bound_ns();
    }
    return found;
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
    const std::int64_t any_starts_ns = search(tree, root, watch, options.beam_width, true);
    BroadcastResult result;
    result.transfers = watch.take_transfers();
    result.makespan_ns = watch.makespan_ns();
    result.lower_bound_ns = watch.lower_bound_ns();
    result.lower_bound_any_starts_ns = tree.has_delays() ? any_starts_ns : result.lower_bound_ns;
    result.optimal = result.lower_bound_ns == result.makespan_ns;
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
