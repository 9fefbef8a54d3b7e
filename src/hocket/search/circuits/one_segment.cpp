// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/one_segment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "hocket/base/error.hpp"

namespace hocket::search {
namespace {

using circuits::CircuitSchedule;
using circuits::Draft;
using circuits::Injection;
using circuits::Rules;
using circuits::Stop;

/* Configurations. All messages take the same time, so that a configuration is rounds of messages. At its start all
   circuits are down: a node that has the message is like each other one that has it, and so is one that lacks it. So
   only the number of nodes with the message counts, and more of them are never worse.

   Within a configuration a node that gets the message has used one port for it. Let h(r) be the nodes that a node
   reaches in r rounds with k - 1 ports, and g(r) with k. As each child is served for the rest of the rounds,
     injection one: h(r) = 1 + h(r - 1) + ... + h(r - min(r, k - 1)),  g likewise with k in place of k - 1;
     injection all: h(r) = 1 + (k - 1) h(r - 1),                       g(r) = 1 + k h(r - 1), both 1 for r = 0.
   h grows with r, so sending as early as possible is best, and a nodes become a g(r). Fewest rounds in c configurations
   are a search over the numbers of nodes after each. */
std::vector<std::int64_t> reach_table(std::int64_t rounds, std::int32_t ports, Injection injection, std::int64_t most) {
    std::vector<std::int64_t> lower(static_cast<std::size_t>(rounds) + 1, 1);
    for (std::size_t r = 1; r < lower.size(); ++r) {
        if (injection == Injection::all) {
            lower[r] = 1 + (ports - 1) * lower[r - 1];
        } else {
            for (std::size_t i = 1; i <= std::min(r, static_cast<std::size_t>(ports) - 1); ++i)
                lower[r] += lower[r - i];
        }
        lower[r] = std::min(lower[r], most);
    }
    return lower;
}

/// Appends the tree that `reach` counts: `informed` nodes reach the next ones in the order of their numbers.
void add_configuration(Draft& draft, std::int32_t number, std::int64_t rounds, std::int32_t& informed,
                       const Rules& rules) {
    std::vector<std::int32_t> ports(static_cast<std::size_t>(informed), rules.ports);
    for (std::int64_t round = 0; round < rounds; ++round) {
        const auto senders = static_cast<std::int32_t>(ports.size());
        for (std::int32_t sender = 0; sender < senders; ++sender) {
            std::int32_t& left = ports[static_cast<std::size_t>(sender)];
            for (std::int32_t sent = left == 0 ? 0 : rules.injection == Injection::one ? 1 : left; sent > 0; --sent) {
                if (informed == rules.num_nodes) return;
                --ports[static_cast<std::size_t>(sender)];
                draft.messages.push_back({number, static_cast<std::int32_t>(round), sender, informed++, {0}});
                ports.push_back(rules.ports - 1);
            }
        }
    }
}

}  // namespace

std::int64_t reach(std::int64_t rounds, std::int32_t ports, Injection injection, std::int64_t most) {
    if (rounds == 0) return 1;
    const std::vector<std::int64_t> lower = reach_table(rounds - 1, ports, injection, most);
    if (injection == Injection::all) return std::min(most, 1 + ports * lower.back());
    std::int64_t sum = 1;
    for (std::int64_t i = 1; i <= std::min<std::int64_t>(rounds, ports) && sum < most; ++i)
        sum += lower[static_cast<std::size_t>(rounds - i)];
    return std::min(sum, most);
}

std::vector<std::vector<std::int64_t>> fewest_rounds(std::int32_t p, std::int32_t ports, Injection injection) {
    if (p == 1) return {};
    ports = std::min(ports, p - 1);
    std::vector<std::int64_t> factor{1};  // after r rounds
    while (factor.back() < p && (ports > 1 || factor.size() < 2))
        factor.push_back(reach(static_cast<std::int64_t>(factor.size()), ports, injection, p));
    struct Best {
        std::int64_t rounds = std::numeric_limits<std::int64_t>::max();
        std::int64_t from = 0, last = 0;  // nodes before the last configuration, and its rounds
    };
    const auto size = static_cast<std::size_t>(p) + 1;
    std::vector<std::vector<Best>> best{std::vector<Best>(size)};
    best[0][1].rounds = 0;
    std::vector<std::vector<std::int64_t>> result;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    // With c configurations all is reached after ceil(log2 p) of them; then more save nothing.
    for (std::int64_t reached = 1; reached < 2 * std::int64_t{p}; reached *= 2) {
        best.emplace_back(size);
        const auto& before = best[best.size() - 2];
        auto& after = best.back();
        for (std::int64_t nodes = 1; nodes < p; ++nodes) {
            const std::int64_t so_far = before[static_cast<std::size_t>(nodes)].rounds;
            if (so_far == std::numeric_limits<std::int64_t>::max()) continue;
            for (std::size_t r = 1; r < factor.size(); ++r) {
                Best& then = after[static_cast<std::size_t>(std::min<std::int64_t>(p, nodes * factor[r]))];
                const std::int64_t rounds = so_far + static_cast<std::int64_t>(r);
                if (rounds < then.rounds) then = {rounds, nodes, static_cast<std::int64_t>(r)};
            }
        }
        std::vector<std::int64_t> rounds;
        if (after.back().rounds < least) {
            least = after.back().rounds;
            std::int64_t nodes = p;
            for (std::size_t c = best.size() - 1; c > 0; --c) {
                const Best& step = best[c][static_cast<std::size_t>(nodes)];
                rounds.insert(rounds.begin(), step.last);
                nodes = step.from;
            }
        }
        result.push_back(std::move(rounds));  // none: not possible, or no fewer rounds than with less configurations
    }
    while (!result.empty() && result.back().empty()) result.pop_back();
    return result;
}

Draft configurations_draft(const Rules& rules, double bytes, const std::vector<std::int64_t>& rounds) {
    Draft draft{bytes, false, {}};
    std::int32_t informed = 1;
    for (std::size_t c = 0; c < rounds.size(); ++c)
        add_configuration(draft, static_cast<std::int32_t>(c), rounds[c], informed, rules);
    return draft;
}

CircuitSchedule broadcast_by_configurations(const Rules& rules, double bytes) {
    CircuitSchedule best;
    for (const auto& configurations : fewest_rounds(rules.num_nodes, rules.ports, rules.injection)) {
        if (configurations.empty()) continue;
        CircuitSchedule schedule = circuits::timed(configurations_draft(rules, bytes, configurations), rules);
        if (best.messages.empty() || schedule.makespan_s < best.makespan_s) best = std::move(schedule);
    }
    return best;
}

/* Circuits each by itself. Each node but the root gets the message once, by a circuit of its own (a second message to a
   node, or a second one over a circuit, helps nobody). A node that gets it at time t has k - 1 other ports, which have
   done nothing before, so that their circuits can be open by then; the root has k, open at s. A port that carried a
   message until e is ready for the next one at e + d + s (`hidden`: e + max(s, d)). So the times at which a node
   may send, counted from t, are the same for all nodes but the root, whatever the others do: with injection one
   the list schedule of equal jobs of the sender and then of a port, which is earliest for each job. The receivers'
   ports never hinder: a receiver has done nothing before. So the earliest p - 1 of these times are best, one after
   another: giving a message that could start earlier to nobody only delays what follows. */
CircuitSchedule broadcast_by_circuits(const Rules& rules, double bytes) {
    struct Ready {
        double time_s;  // when the node may send next
        std::int32_t node;
        bool operator>(const Ready& other) const {
            return time_s != other.time_s ? time_s > other.time_s : node > other.node;
        }
    };
    const double message_s = rules.message_s(bytes);
    const std::int32_t ports = std::min(rules.ports, rules.num_nodes);
    std::vector<std::priority_queue<double, std::vector<double>, std::greater<>>> port_ready_s(
        static_cast<std::size_t>(rules.num_nodes));
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (std::int32_t i = 0; i < ports; ++i) port_ready_s[0].push(rules.times.setup_s);
    ready.push({rules.times.setup_s, 0});
    CircuitSchedule schedule;
    schedule.block_bytes = bytes;
    for (std::int32_t to = 1; to < rules.num_nodes; ++to) {
        const auto [begin_s, from] = ready.top();
        ready.pop();
        const double end_s = begin_s + message_s;
        auto& own = port_ready_s[static_cast<std::size_t>(from)];
        own.pop();
        own.push(end_s + rules.exchange_s());
        ready.push({std::max(own.top(), rules.injection == Injection::one ? end_s : begin_s), from});
        auto& others = port_ready_s[static_cast<std::size_t>(to)];
        for (std::int32_t i = 1; i < ports; ++i) others.push(end_s);
        others.push(end_s + rules.exchange_s());
        ready.push({others.top(), to});
        schedule.circuits.push_back({std::min(from, to), std::max(from, to), to - 1, begin_s - rules.times.setup_s,
                                     begin_s, end_s, end_s + rules.times.teardown_s});
        schedule.messages.push_back({to - 1, from, to, {0}, false, begin_s, end_s});
        schedule.makespan_s = std::max(schedule.makespan_s, end_s + rules.times.teardown_s);
    }
    return schedule;
}

CircuitSchedule broadcast_one_segment(const Rules& rules, double bytes) {
    HOCKET_ASSERT(rules.controller == circuits::Controller::parallel, "only one set-up at a time");
    if (rules.stop == Stop::circuit) return broadcast_by_circuits(rules, bytes);
    return broadcast_by_configurations(rules, bytes);
}

}  // namespace hocket::search
