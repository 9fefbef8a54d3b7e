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
    while (low < high && !watch.done_and_report()) {
        const std::int64_t middle = low + (high - low) / 2;
        if (bound.of(root, never, middle) > middle)
            low = middle + 1;
        else
            high = middle;
    }
    watch.raise_lower_bound(low);
}

/// List schedules that aim at several ends, the bound first. There is a schedule even if the watch stops them.
void make_list_schedules(const Tree& tree, const State& root, Bound& bound, Watch& watch) {
    ListSchedule list(tree, bound, watch);
    const auto aim_at = [&](std::int64_t target) {
        State state = root;
        if (!list.complete(state, target, never) && watch.transfers().empty()) list.complete_at_once(state);
        watch.keep(state);
        return state.complete() ? state.end_ns() : never;
    };
    aim_at(watch.lower_bound_ns());
    raise_lower_bound(root, bound, watch);
    if (watch.done_and_report()) return;
    std::int64_t low = watch.lower_bound_ns();
    for (std::int64_t target = low, i = 0; i < 12 && low < watch.makespan_ns() && !watch.done_and_report(); ++i) {
        if (aim_at(target) > target) low = target + 1;
        target = low + (watch.makespan_ns() - low) / 2;
    }
}

struct Effort {
    std::int32_t beam_width;
    std::int64_t num_steps;  ///< of simulated annealing at a time
    bool uses_subtrees;
};
void find_subtree_bounds(const State& root, std::int64_t num_nodes, std::vector<SubtreeBound>&, Watch&);

/// Anneals by turns at what the bound allows, and at ends nearer to the best schedule: one far off leads elsewhere than
/// one within reach.
void improve_once(const State& root, std::int64_t num_steps, std::uint64_t turn, Watch& watch) {
    const double parts[] = {0, 0.5, 0.9}, hot[] = {0.3, 0.05};
    const std::int64_t low = watch.lower_bound_ns(), gap = watch.makespan_ns() - low;
    const std::int64_t aim = low + static_cast<std::int64_t>(parts[turn % 3] * static_cast<double>(gap));
    improve(root, watch, {turn, aim, hot[turn / 3 % 2], num_steps});
}

/// Returns the lower bound before any branching.
std::int64_t search(const Tree& tree, const State& root, Watch& watch, const Effort& effort) {
    Bound bound(tree);
    Candidates candidates(tree);
    watch.raise_lower_bound(bound.of(root));
    make_list_schedules(tree, root, bound, watch);
    const std::int64_t before_branching_ns = watch.lower_bound_ns();
    if (effort.beam_width > 0 && !watch.done_and_report()) beam_search(tree, root, bound, candidates, 1, watch);
    if (!watch.done_and_report()) BestFirst(tree, root, watch).run(100);  // mostly enough for a small tree
    std::uint64_t turn = 0;
    while (turn < 3 && !watch.done_and_report()) improve_once(root, effort.num_steps, turn++, watch);
    for (std::int32_t width = 4; width <= effort.beam_width && !watch.done_and_report(); width *= 4)
        beam_search(tree, root, bound, candidates, width, watch);
    std::vector<SubtreeBound> subtrees(static_cast<std::size_t>(tree.num_links()));
    BestFirst best_first(tree, root, watch, subtrees);
    for (std::int64_t num_nodes = 200; !watch.done_and_report(); num_nodes += num_nodes / 4) {
        if (effort.uses_subtrees && !tree.has_delays() && turn % 4 == 3) {
            find_subtree_bounds(root, num_nodes, subtrees, watch);
            if (!watch.stopped()) watch.raise_lower_bound(Bound(tree, subtrees).of(root));
        }
        best_first.run(num_nodes);
        if (effort.num_steps > 0 && !watch.done_and_report()) improve_once(root, effort.num_steps, turn++, watch);
    }
    return before_branching_ns;
}

/// Before which no computer can have the message, whatever else is sent: from each to the next at the rate of the path.
std::vector<std::int64_t> first_arrivals(const Tree& tree, const State& root) {
    const auto n = static_cast<std::size_t>(tree.num_computers());
    std::vector<std::int64_t> found(n, never);
    std::vector<bool> is_done(n);
    for (std::size_t c = 0; c < n; ++c) found[c] = root.ready_ns(static_cast<std::int32_t>(c));
    for (;;) {
        std::size_t next = n;
        for (std::size_t c = 0; c < n; ++c)
            if (!is_done[c] && (next == n || found[c] < found[next])) next = c;
        if (next == n) return found;
        is_done[next] = true;
        for (std::size_t c = 0; c < n; ++c)
            if (!is_done[c])
                found[c] = std::min(found[c], found[next] + tree.duration_ns(static_cast<std::int32_t>(next),
                                                                             static_cast<std::int32_t>(c)));
    }
}

/// By the same search, of less effort. Returns how long it takes at least, and whether it can be done in that.
std::pair<std::int64_t, bool> search_subtree(const CutOff& subtree, std::int64_t num_nodes, Watch& watch) {
    BroadcastOptions options;
    options.max_nodes = num_nodes;
    options.time_limit_s = watch.options().time_limit_s - watch.seconds();
    options.on_progress = [&](const BroadcastProgress&) { return !watch.done_and_report(); };
    Watch of_subtree(options);
    search(subtree.tree, State(subtree.tree, subtree.holders, subtree.from_ns), of_subtree, {1, 5'000, false});
    return {of_subtree.lower_bound_ns(), of_subtree.lower_bound_ns() == of_subtree.makespan_ns()};
}

/// What is behind each link, broadcast from where it is cut off [Hourai, sec. 4.6], unless that is nearly all. That
/// also bounds the whole, from when the computers before the link can have the message. What is not known yet, or not
/// exactly, is searched for as many nodes.
void find_subtree_bounds(const State& root, std::int64_t num_nodes, std::vector<SubtreeBound>& bounds, Watch& watch) {
    constexpr std::int64_t most = 32;  // computers
    const Tree& tree = root.tree();
    const std::vector<std::int64_t> first_ns = first_arrivals(tree, root);
    for (std::int32_t link = 0; link < tree.num_links() && !watch.done_and_report(); ++link) {
        SubtreeBound& bound = bounds[static_cast<std::size_t>(link)];
        if (link / 2 == tree.middle() || bound.is_exact) continue;
        const std::vector<bool> is_behind = computers_behind(tree, link);
        const auto size = std::count(is_behind.begin(), is_behind.end(), true);
        bound.holders.clear();
        std::vector<std::int64_t> at_once(is_behind.size(), 0);
        for (std::size_t c = 0; c < is_behind.size(); ++c)
            if (is_behind[c] && first_ns[c] == 0)
                bound.holders.push_back(static_cast<std::int32_t>(c));
            else if (is_behind[c])
                at_once[c] = never;
        const bool has_use = size > 1 && size <= most && 4 * size <= 3 * tree.num_computers() &&
                             bound.holders.size() < static_cast<std::size_t>(size);
        bound.is_exact = !has_use;
        if (!has_use) continue;
        if (bound.needs_ns == 0)
            watch.raise_lower_bound(search_subtree(cut_off(tree, link, first_ns), num_nodes, watch).first);
        const auto [needs_ns, is_exact] = search_subtree(cut_off(tree, link, at_once), num_nodes, watch);
        bound.needs_ns = std::max(bound.needs_ns, needs_ns);
        bound.is_exact = is_exact;
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
    const std::int64_t any_starts_ns = search(tree, root, watch, {options.beam_width, 60'000, true});
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
