// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/broadcast.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "hocket/search/bound.hpp"
#include "hocket/search/candidates.hpp"

namespace hocket::search {
namespace {

using Clock = std::chrono::steady_clock;

class BranchAndBound {
public:
    BranchAndBound(const Tree& tree, std::span<const std::int32_t> holders, const BroadcastOptions& options)
        : tree_(tree), options_(options), bound_(tree), candidates_(tree), state_(tree, holders) {}

    BroadcastResult run() {
        result_.makespan_ns = never;
        result_.lower_bound_ns = bound_.of(state_);
        for (std::int32_t width = 1; width <= options_.beam_width; width *= 4) {
            beam(width);
            if (good_enough() || seconds() > options_.time_limit_s) break;
        }
        if (!good_enough()) {
            search();
            if (!stopped_) result_.lower_bound_ns = result_.makespan_ns;
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
            std::vector<Key> seen;
            for (const Choice& choice : choices) {
                if (next_states.size() == static_cast<std::size_t>(width)) break;
                if (std::find(seen.begin(), seen.end(), choice.key) != seen.end()) continue;
                seen.push_back(choice.key);
                next_states.push_back(states[static_cast<std::size_t>(choice.state)]);
                next_states.back().add(choice.transfer.source, choice.transfer.target, choice.transfer.start_ns);
            }
            states.swap(next_states);
        }
        for (const State& state : states) keep(state);
    }

    void search() {
        if (state_.complete()) return keep(state_);
        if (++result_.num_nodes >= options_.max_nodes || ((result_.num_nodes & 63) == 0 && seconds() > options_.time_limit_s))
            stopped_ = true;
        if (stopped_) return;
        std::vector<Transfer> list;
        std::vector<Child> children;
        candidates_.list(state_, list);
        for (const Transfer& t : list) {
            state_.add(t.source, t.target, t.start_ns);
            const std::int64_t bound = bound_.of(state_);
            state_.take_back();
            if (bound < result_.makespan_ns) children.push_back({t, bound});
        }
        std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
            return std::tie(a.bound_ns, a.transfer.start_ns, a.transfer.end_ns, a.transfer.source, a.transfer.target) <
                   std::tie(b.bound_ns, b.transfer.start_ns, b.transfer.end_ns, b.transfer.source, b.transfer.target);
        });
        for (const Child& child : children) {
            if (child.bound_ns >= result_.makespan_ns || good_enough()) return;
            state_.add(child.transfer.source, child.transfer.target, child.transfer.start_ns);
            candidates_.canonical().read(state_);
            const auto [place, is_new] = seen_.try_emplace(candidates_.canonical().key(), state_.now_ns());
            if (is_new || state_.now_ns() < place->second) {
                place->second = state_.now_ns();
                search();
            }
            state_.take_back();
            if (stopped_) return;
        }
    }

    const Tree& tree_;
    BroadcastOptions options_;
    Bound bound_;
    Candidates candidates_;
    State state_;
    BroadcastResult result_;
    std::unordered_map<Key, std::int64_t> seen_;  // the earliest instant at which a state was looked at
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
