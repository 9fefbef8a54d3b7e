// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/beam.hpp"

#include <algorithm>
#include <tuple>

#include "hocket/search/dominance.hpp"

namespace hocket::search {

void beam_search(const Tree& tree, const State& root, Bound& bound, Candidates& candidates, std::int32_t width,
                 Watch& watch) {
    struct Choice {
        std::int32_t state;
        Transfer transfer;
        std::int64_t bound_ns;
        double mean_ns;
        Key key;
    };
    std::vector<State> states{root}, next_states;
    std::vector<Choice> choices;
    std::vector<Transfer> list;
    for (std::int32_t left = tree.num_computers() - root.num_informed(); left > 0; --left) {
        if (watch.done_and_report()) return;
        choices.clear();
        for (std::size_t i = 0; i < states.size(); ++i) {
            candidates.list(states[i], list);
            for (const Transfer& t : list) {
                if (watch.done_and_report()) return;
                states[i].add(t.source, t.target, t.start_ns);
                candidates.canonical().read(states[i]);
                choices.push_back({static_cast<std::int32_t>(i), t, bound.of(states[i]), bound.mean_ns(),
                                   candidates.canonical().key()});
                states[i].take_back();
            }
        }
        std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
            return std::tie(a.bound_ns, a.mean_ns, a.transfer.start_ns, a.state, a.transfer.source, a.transfer.target) <
                   std::tie(b.bound_ns, b.mean_ns, b.transfer.start_ns, b.state, b.transfer.source, b.transfer.target);
        });
        next_states.clear();
        Dominance dominance(tree);
        std::vector<Key> seen;
        for (const Choice& choice : choices) {
            if (next_states.size() == static_cast<std::size_t>(width)) break;
            if (std::find(seen.begin(), seen.end(), choice.key) != seen.end()) continue;
            seen.push_back(choice.key);
            next_states.push_back(states[static_cast<std::size_t>(choice.state)]);
            next_states.back().add(choice.transfer.source, choice.transfer.target, choice.transfer.start_ns);
            if (!tree.has_delays() && dominance.is_dominated(next_states.back())) next_states.pop_back();
        }
        states.swap(next_states);
    }
    for (const State& state : states) watch.keep(state);
}

}  // namespace hocket::search
