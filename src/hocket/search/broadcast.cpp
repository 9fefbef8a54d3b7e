// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/broadcast.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "hocket/search/bound.hpp"
#include "hocket/search/candidates.hpp"
#include "hocket/search/dominance.hpp"
#include "hocket/search/list_schedule.hpp"

namespace hocket::search {
namespace {

using Clock = std::chrono::steady_clock;

class BranchAndBound {
public:
    BranchAndBound(const Tree& tree, std::span<const std::int32_t> holders, const BroadcastOptions& options)
        : tree_(tree), options_(options), dominance_(tree), bound_(tree), candidates_(tree), state_(tree, holders) {}

    BroadcastResult run() {
        result_.makespan_ns = never;
        result_.lower_bound_ns = bound_.of(state_);
        construct();
        for (std::int32_t width = 1; !good_enough() && width <= options_.beam_width; width *= 4) {
            beam(width);
            if (seconds() > options_.time_limit_s) break;
        }
        if (!good_enough()) {
            search();
        }
        result_.optimal = result_.lower_bound_ns == result_.makespan_ns;
        result_.search_s = seconds();
        return std::move(result_);
    }

private:
    struct Child {
        Transfer transfer;
        std::int64_t bound_ns;
    };

    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    [[nodiscard]] bool good_enough() const {
        const auto bound = static_cast<double>(result_.lower_bound_ns);
        return static_cast<double>(result_.makespan_ns) <= bound * (1 + options_.gap);
    }
    void keep(const State& state) {
        if (state.end_ns() >= result_.makespan_ns) return;
        result_.makespan_ns = state.end_ns();
        result_.transfers.assign(state.transfers().begin(), state.transfers().end());
    }

    /// List schedules that aim at several ends.
    void construct() {
        ListSchedule list(tree_, bound_);
        for (std::int64_t target = result_.lower_bound_ns, low = target, i = 0; i < 12; ++i) {
            State state = state_;
            list.complete(state, target, never);
            keep(state);
            if (i == 0) raise_lower_bound();
            low = i == 0 ? result_.lower_bound_ns : state.end_ns() > target ? target + 1 : low;
            if (good_enough() || seconds() > options_.time_limit_s) return;
            target = i == 0 ? low : low + (result_.makespan_ns - low) / 2;
        }
    }
    /// To the earliest end that the bound does not exclude.
    void raise_lower_bound() {
        std::int64_t high = result_.makespan_ns;
        while (result_.lower_bound_ns < high) {
            const std::int64_t middle = result_.lower_bound_ns + (high - result_.lower_bound_ns) / 2;
            if (bound_.of(state_, never, middle) > middle)
                result_.lower_bound_ns = middle + 1;
            else
                high = middle;
        }
    }

    /// The most promising states with one, two, ... transfers.
    void beam(std::int32_t width) {
        struct Choice {
            std::int32_t state;
            Transfer transfer;
            std::int64_t bound_ns;
            double mean_ns;
            Key key;
        };
        std::vector<State> states{state_}, next_states;
        std::vector<Choice> choices;
        std::vector<Transfer> list;
        for (std::int32_t left = tree_.num_computers() - state_.num_informed(); left > 0; --left) {
            choices.clear();
            for (std::size_t i = 0; i < states.size(); ++i) {
                candidates_.list(states[i], list);
                for (const Transfer& t : list) {
                    states[i].add(t.source, t.target, t.start_ns);
                    candidates_.canonical().read(states[i]);
                    choices.push_back({static_cast<std::int32_t>(i), t, bound_.of(states[i]), bound_.mean_ns(),
                                       candidates_.canonical().key()});
                    states[i].take_back();
                }
            }
            std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
                return std::tie(a.bound_ns, a.mean_ns, a.transfer.start_ns, a.state, a.transfer.source,
                                a.transfer.target) < std::tie(b.bound_ns, b.mean_ns, b.transfer.start_ns, b.state,
                                                              b.transfer.source, b.transfer.target);
            });
            next_states.clear();
            Dominance dominance(tree_);
            std::vector<Key> seen;
            for (const Choice& choice : choices) {
                if (next_states.size() == static_cast<std::size_t>(width)) break;
                if (std::find(seen.begin(), seen.end(), choice.key) != seen.end()) continue;
                seen.push_back(choice.key);
                next_states.push_back(states[static_cast<std::size_t>(choice.state)]);
                next_states.back().add(choice.transfer.source, choice.transfer.target, choice.transfer.start_ns);
                if (!tree_.has_delays() && dominance.is_dominated(next_states.back())) next_states.pop_back();
            }
            states.swap(next_states);
        }
        for (const State& state : states) keep(state);
    }

    struct Node {
        std::int64_t bound_ns;
        std::int32_t depth;
        std::int64_t parent;
        Transfer transfer;
    };
    auto later() {
        return [this](std::int64_t a, std::int64_t b) {
            const Node &x = nodes_[static_cast<std::size_t>(a)], &y = nodes_[static_cast<std::size_t>(b)];
            return std::tie(x.bound_ns, y.depth, a) > std::tie(y.bound_ns, x.depth, b);
        };
    }
    /// Best first: the bound of the first open state is that of all.
    void search() {
        std::vector<Transfer> list;
        nodes_.push_back({result_.lower_bound_ns, 0, -1, {}});
        heap_.push_back(0);
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), later());
            const std::int64_t at = heap_.back();
            heap_.pop_back();
            const Node node = nodes_[static_cast<std::size_t>(at)];
            result_.lower_bound_ns = std::max(result_.lower_bound_ns, std::min(node.bound_ns, result_.makespan_ns));
            if (node.bound_ns >= result_.makespan_ns || good_enough()) return;
            if (++result_.num_nodes >= options_.max_nodes ||
                ((result_.num_nodes & 63) == 0 && seconds() > options_.time_limit_s)) {
                stopped_ = true;
                return;
            }
            go_to(at);
            candidates_.list(state_, list);
            for (const Transfer& t : list) {
                state_.add(t.source, t.target, t.start_ns);
                visit(at, t, node.depth + 1);
                state_.take_back();
            }
        }
        result_.lower_bound_ns = result_.makespan_ns;
    }

    void visit(std::int64_t parent, const Transfer& t, std::int32_t depth) {
        if (state_.complete()) return keep(state_);
        if (state_.end_ns() >= result_.makespan_ns) return;
        if (tree_.has_delays()) {
            candidates_.canonical().read(state_);
            const auto [place, is_new] = seen_.try_emplace(candidates_.canonical().key(), state_.now_ns());
            if (!is_new && state_.now_ns() >= place->second) return;
            place->second = state_.now_ns();
        } else {
            candidates_.canonical().read(state_);
            const auto [place, is_new] = seen_.try_emplace(candidates_.canonical().key(), state_.now_ns());
            if (!is_new && state_.now_ns() >= place->second) return;
            place->second = state_.now_ns();
            if (dominance_.is_dominated(state_)) return;
        }
        const std::int64_t bound = bound_.of(state_, result_.makespan_ns, result_.makespan_ns - 1);
        if (bound >= result_.makespan_ns) return;
        nodes_.push_back({bound, depth, parent, t});
        heap_.push_back(static_cast<std::int64_t>(nodes_.size()) - 1);
        std::push_heap(heap_.begin(), heap_.end(), later());
    }

    void go_to(std::int64_t at) {
        std::vector<Transfer> way;
        for (; nodes_[static_cast<std::size_t>(at)].parent >= 0; at = nodes_[static_cast<std::size_t>(at)].parent)
            way.push_back(nodes_[static_cast<std::size_t>(at)].transfer);
        while (!state_.transfers().empty()) state_.take_back();
        for (std::size_t i = way.size(); i-- > 0;) state_.add(way[i].source, way[i].target, way[i].start_ns);
    }

    const Tree& tree_;
    BroadcastOptions options_;
    Dominance dominance_;
    Bound bound_;
    Candidates candidates_;
    State state_;
    BroadcastResult result_;
    std::unordered_map<Key, std::int64_t> seen_;  // the earliest instant at which a state was looked at
    std::vector<Node> nodes_;
    std::vector<std::int64_t> heap_;
    bool stopped_ = false;
    Clock::time_point start_ = Clock::now();
};

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
    return BranchAndBound(tree, holders, options).run();
}

std::int64_t fastest_broadcast_by_exhaustion(const Tree& tree, std::span<const std::int32_t> holders) {
    State state(tree, holders);
    std::int64_t best = never;
    exhaust(state, best);
    return best;
}

}  // namespace hocket::search
