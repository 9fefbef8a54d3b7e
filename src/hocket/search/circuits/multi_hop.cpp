// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "hocket/search/circuits/steps.hpp"

namespace hocket::search {
namespace {

using circuits::Draft;
using circuits::Injection;
using circuits::Rules;
using Blocks = std::vector<std::int32_t>;

std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

/// Runs one configuration forward in time. `wanted(node, i)` is how many blocks the node could send its i-th neighbour
/// now, `take(node, i)` gives them, and `arrive(node, blocks)` hands over what has arrived. A message is in the list
/// after all that have arrived when it begins, so that each can be a step.
struct Forward {
    const Graph& graph;
    const Rules& rules;
    std::function<std::size_t(std::int32_t, std::size_t)> wanted;
    std::function<Blocks(std::int32_t, std::size_t)> take;
    std::function<void(std::int32_t, const Blocks&)> arrive;

    Draft run(double bytes) {
        struct Event {
            double time_s;
            std::int32_t to;
            std::int32_t from;
            std::size_t circuit;  // of the sender
            Blocks blocks;
            bool operator>(const Event& other) const { return time_s > other.time_s; }
        };
        Draft draft{bytes, false, {}};
        std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
        std::vector<std::vector<char>> busy(graph.size());
        for (std::size_t node = 0; node < graph.size(); ++node) busy[node].assign(graph[node].size(), 0);
        std::vector<char> sends(graph.size(), 0);
        const auto start = [&](std::int32_t node, double now_s) {
            while (rules.injection == Injection::all || !sends[at(node)]) {
                std::size_t best = 0, most = 0;
                for (std::size_t i = 0; i < graph[at(node)].size(); ++i) {
                    // Starts elsewhere in the list at each node, lest all choose the same neighbour.
                    const std::size_t turn = (i + at(node)) % graph[at(node)].size();
                    if (busy[at(node)][turn]) continue;
                    if (const std::size_t count = wanted(node, turn); count > most) {
                        most = count;
                        best = turn;
                    }
                }
                if (most == 0) return;
                Blocks blocks = take(node, best);
                const double end_s = now_s + rules.message_s(bytes * static_cast<double>(blocks.size()));
                const std::int32_t to = graph[at(node)][best];
                draft.messages.push_back({0, static_cast<std::int32_t>(draft.messages.size()), node, to, blocks});
                busy[at(node)][best] = sends[at(node)] = 1;
                events.push({end_s, to, node, best, std::move(blocks)});
            }
        };
        const auto size = static_cast<std::int32_t>(graph.size());
        for (std::int32_t node = 0; node < size; ++node) start(node, 0);
        Blocks woken;
        while (!events.empty()) {
            const double now_s = events.top().time_s;
            woken.clear();
            while (!events.empty() && events.top().time_s <= now_s * (1 + 1e-12)) {
                const Event event = events.top();
                events.pop();
                arrive(event.to, event.blocks);
                busy[at(event.from)][event.circuit] = sends[at(event.from)] = 0;
                woken.push_back(event.from);
                woken.push_back(event.to);
            }
            std::ranges::sort(woken);
            const auto repeated = std::ranges::unique(woken);
            woken.erase(repeated.begin(), repeated.end());
            for (const std::int32_t node : woken) start(node, now_s);
        }
        return draft;
    }
};

}  // namespace

Draft gossip(const Graph& graph, double bytes, const Rules& rules) {
    const std::size_t p = graph.size();
    std::vector<std::vector<char>> has(p, std::vector<char>(p, 0));
    for (std::size_t node = 0; node < p; ++node) has[node][node] = 1;
    std::vector<std::vector<char>> promised = has;  // and what is on its way
    const auto blocks_for = [&](std::int32_t node, std::size_t i) {
        const auto& there = promised[at(graph[at(node)][i])];
        Blocks blocks;
        for (std::size_t block = 0; block < p; ++block)
            if (has[at(node)][block] && !there[block]) blocks.push_back(static_cast<std::int32_t>(block));
        return blocks;
    };
    return Forward{graph, rules, [&](std::int32_t node, std::size_t i) { return blocks_for(node, i).size(); },
                   [&](std::int32_t node, std::size_t i) {
                       Blocks blocks = blocks_for(node, i);
                       for (const std::int32_t block : blocks) promised[at(graph[at(node)][i])][at(block)] = 1;
                       return blocks;
                   },
                   [&](std::int32_t node, const Blocks& blocks) {
                       for (const std::int32_t block : blocks) has[at(node)][at(block)] = 1;
                   }}
        .run(bytes);
}

Draft route(const Graph& graph, double bytes, const Rules& rules, base::Random& random) {
    const auto p = static_cast<std::int32_t>(graph.size());
    std::vector<std::vector<std::int32_t>> distance;  // from each node
    for (std::int32_t node = 0; node < p; ++node) distance.push_back(distances(graph, node));
    std::vector<std::vector<Blocks>> waiting(graph.size());
    std::vector<std::vector<std::int32_t>> load(graph.size());  // blocks that were routed over each circuit
    for (std::size_t node = 0; node < graph.size(); ++node) {
        waiting[node].resize(graph[node].size());
        load[node].assign(graph[node].size(), 0);
    }
    // Of the neighbours that are nearer, the one to which least has been routed.
    const auto put = [&](std::int32_t node, std::int32_t block) {
        const std::int32_t to = block % p;
        if (to == node) return;
        std::size_t best = 0;
        std::int32_t least = 0, ties = 0;
        for (std::size_t i = 0; i < graph[at(node)].size(); ++i) {
            if (distance[at(to)][at(graph[at(node)][i])] >= distance[at(to)][at(node)]) continue;
            const std::int32_t there = load[at(node)][i];
            if (ties > 0 && there > least) continue;
            ties = ties > 0 && there == least ? ties + 1 : 1;
            if (random.below(ties) == 0) best = i;
            least = there;
        }
        ++load[at(node)][best];
        waiting[at(node)][best].push_back(block);
    };
    for (std::int32_t node = 0; node < p; ++node)
        for (std::int32_t to = 0; to < p; ++to) put(node, node * p + to);
    return Forward{graph, rules, [&](std::int32_t node, std::size_t i) { return waiting[at(node)][i].size(); },
                   [&](std::int32_t node, std::size_t i) { return std::exchange(waiting[at(node)][i], {}); },
                   [&](std::int32_t node, const Blocks& blocks) {
                       for (const std::int32_t block : blocks) put(node, block);
                   }}
        .run(bytes);
}

}  // namespace hocket::search
