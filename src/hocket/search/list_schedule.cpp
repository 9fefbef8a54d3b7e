// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/list_schedule.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace hocket::search {

ListSchedule::ListSchedule(const Tree& tree, Bound& bound, Watch& watch)
    : tree_(&tree),
      bound_(&bound),
      watch_(&watch),
      children_(at(tree.num_nodes())),
      entry_(at(tree.num_nodes()), -1),
      num_informed_(at(tree.num_nodes())),
      targets_(at(tree.num_nodes())),
      needs_ns_(at(tree.num_nodes())) {
    struct Way {
        std::int64_t in = 0, out = 0;
        bool operator<(const Way& other) const { return std::tie(in, out) < std::tie(other.in, other.out); }
    };
    std::vector<Way> ways(entry_.size());
    const auto order = tree.order();
    for (std::size_t i = order.size(); i-- > 0;) {
        const std::int32_t v = order[i];
        Way& way = ways[at(v)];
        if (const std::int32_t computer = tree.computer_at(v); computer >= 0) {
            entry_[at(v)] = computer;
            way = {never, never};
        }
        for (const std::int32_t child : children_[at(v)])
            if (way < ways[at(child)]) {
                way = ways[at(child)];
                entry_[at(v)] = entry_[at(child)];
            }
        const auto tail = [&](std::int32_t child) { return bound.units().behind(2 * child + 1).tail_ns; };
        std::stable_sort(children_[at(v)].begin(), children_[at(v)].end(),
                         [&](std::int32_t a, std::int32_t b) { return tail(a) > tail(b); });
        if (v == tree.middle() || entry_[at(v)] < 0) continue;
        way = {std::min(way.in, tree.bandwidth(2 * v + 1)), std::min(way.out, tree.bandwidth(2 * v))};
        children_[at(tree.parent(v))].push_back(v);
    }
}

bool ListSchedule::complete(State& state, std::int64_t target_ns, std::int64_t worst_ns) {
    if (bound_->of(state) >= worst_ns) return false;
    while (!state.complete()) {
        find_targets(state);
        if (watch_->done_and_report()) return false;
        find_candidates(state);
        std::int64_t best_bound = never;
        const Candidate* best = nullptr;
        const bool is_late = watch_->seconds() > 0.5 * watch_->options().time_limit_s;
        for (const Candidate& one : candidates_) {
            state.add(one.transfer.source, one.transfer.target, one.transfer.start_ns);
            const std::int64_t bound = bound_->of(state, never, target_ns);
            if (bound < best_bound) best = &one;
            best_bound = std::min(bound, best_bound);
            if (bound <= target_ns || is_late) break;
            state.take_back();
            if (watch_->done_and_report()) return false;
        }
        if (best_bound >= worst_ns) return false;
        if (best_bound <= target_ns || is_late) continue;
        state.add(best->transfer.source, best->transfer.target, best->transfer.start_ns);
        bound_->of(state);
    }
    return state.end_ns() < worst_ns;
}

void ListSchedule::complete_at_once(State& state) const {
    std::vector<std::int32_t> num_informed(at(tree_->num_nodes()), 0);  // [node] below and at it
    std::vector<std::size_t> next_child(at(tree_->num_nodes()), 0);     // [node] all before have somebody
    using Turn = std::pair<std::int64_t, std::int32_t>;                 // (not before, computer)
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    const auto join = [&](std::int32_t computer) {
        for (std::int32_t v = tree_->node_of(computer); v >= 0; v = v == tree_->middle() ? -1 : tree_->parent(v))
            ++num_informed[at(v)];
        turns.emplace(std::max(state.now_ns(), state.ready_ns(computer)), computer);
    };
    const auto missing_at = [&](std::int32_t v) {
        const std::int32_t own = tree_->computer_at(v);
        if (own >= 0 && !state.informed(own)) return own;
        std::size_t& next = next_child[at(v)];
        while (next < children_[at(v)].size() && num_informed[at(children_[at(v)][next])] > 0) ++next;
        return next < children_[at(v)].size() ? entry_[at(children_[at(v)][next])] : -1;
    };
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c)
        if (state.informed(c)) join(c);
    while (!state.complete()) {
        const std::int32_t s = turns.top().second;
        turns.pop();
        std::int64_t start = never;
        std::int32_t target = -1;
        for (std::int32_t v = tree_->node_of(s); v >= 0; v = v == tree_->middle() ? -1 : tree_->parent(v)) {
            const std::int32_t r = missing_at(v);
            if (r < 0) continue;
            const std::int64_t earliest = state.earliest_start(s, r);
            if (earliest > start) continue;
            start = earliest;  // of equal ones the farthest
            target = r;
        }
        if (target < 0) continue;  // others are nearer to all that are missing
        turns.emplace(start, s);
        if (start > turns.top().first) continue;
        state.add(s, target, start);
        join(target);
    }
}

/// For the state whose bound has been found last. Without a result when the watch is done.
void ListSchedule::find_targets(const State& state) {
    const auto order = tree_->order();
    open_.clear();
    for (std::size_t i = order.size(); i-- > 0;) {
        if (i % 16 == 0 && watch_->done()) return;
        const std::int32_t v = order[i], own = tree_->computer_at(v);
        std::int32_t num_missing = own >= 0 && !state.informed(own) ? 1 : 0;
        num_informed_[at(v)] = own >= 0 && state.informed(own) ? 1 : 0;
        targets_[at(v)] = num_missing > 0 ? own : -1;
        for (const std::int32_t child : children_[at(v)]) {
            num_informed_[at(v)] += num_informed_[at(child)];
            if (num_informed_[at(child)] > 0) continue;
            if (++num_missing == 1) targets_[at(v)] = entry_[at(child)];
        }
        needs_ns_[at(v)] = num_missing > 0 ? bound_->below_ns(v, state) : 0;
        if (num_missing > 0 && num_informed_[at(v)] > 0 && children_[at(v)].size() > 2) open_.push_back(v);
    }
}

void ListSchedule::find_candidates(const State& state) {
    candidates_.clear();
    std::int64_t first = never;
    const auto consider = [&](std::int32_t s, std::int32_t turn) {
        const std::int32_t r = targets_[at(turn)];
        if (r < 0) return;
        const std::int64_t start = state.earliest_start(s, r);
        if (start > first) return;
        if (start < first) candidates_.clear();
        first = start;
        const std::int64_t end = start + tree_->duration_ns(s, r) + tree_->path_delay_ns(s, r);
        candidates_.push_back({{s, r, start, end}, needs_ns_[at(turn)]});
    };
    for (std::int32_t s = 0; s < tree_->num_computers(); ++s) {
        if (!state.informed(s) || state.ready_ns(s) > first) continue;
        for (std::int32_t v = tree_->node_of(s);; v = tree_->parent(v)) {
            consider(s, v);
            if (v == tree_->middle()) break;
        }
        for (const std::int32_t v : open_) {
            std::int32_t above = tree_->node_of(s);
            while (above != v && above != tree_->middle()) above = tree_->parent(above);
            if (above != v) consider(s, v);
        }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
        return std::tuple(-a.needs_ns, a.transfer.end_ns) < std::tuple(-b.needs_ns, b.transfer.end_ns);
    });
}

}  // namespace hocket::search
