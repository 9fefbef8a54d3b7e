// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "hocket/base/random.hpp"
#include "hocket/search/circuits/bounds.hpp"
#include "hocket/search/circuits/graphs.hpp"
#include "hocket/search/circuits/one_segment.hpp"
#include "hocket/search/circuits/pipelined.hpp"
#include "hocket/search/circuits/steps.hpp"

using namespace hocket;
using namespace hocket::search;
using circuits::Draft;
using circuits::Injection;
using circuits::Rules;
using doctest::Approx;

namespace {

Rules rules_of(std::int32_t p, std::int32_t k, Injection injection = Injection::one) {
    return {p, k, 1e-4, 8e-9, {4e-3, 6e-3}, injection};
}

std::int32_t configurations(const Draft& draft) {
    return draft.messages.empty() ? 0 : draft.messages.back().configuration + 1;
}

/// No node has more circuits in a configuration than ports, and nobody sends what it has not got in an earlier step.
/// Returns what each node holds at the end.
std::vector<std::set<std::int32_t>> carried_out(const Draft& draft, std::vector<std::set<std::int32_t>> held,
                                                std::int32_t ports) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::set<std::int32_t>> partners;  // of a configuration and a node
    std::vector<std::pair<std::int32_t, std::int32_t>> arriving;
    const auto arrive = [&] {
        for (const auto& [node, block] : arriving) held[static_cast<std::size_t>(node)].insert(block);
        arriving.clear();
    };
    for (std::size_t i = 0; i < draft.messages.size(); ++i) {
        const Draft::Send& send = draft.messages[i];
        if (i > 0 && send.step != draft.messages[i - 1].step) arrive();
        partners[{send.configuration, send.from}].insert(send.to);
        partners[{send.configuration, send.to}].insert(send.from);
        for (const std::int32_t block : send.blocks) {
            CHECK(held[static_cast<std::size_t>(send.from)].contains(block));
            CHECK(!held[static_cast<std::size_t>(send.to)].contains(block));
            arriving.emplace_back(send.to, block);
        }
    }
    arrive();
    for (const auto& [where, others] : partners) CHECK(std::ssize(others) <= ports);
    return held;
}

}  // namespace

TEST_CASE("graphs of a configuration are connected and have no more neighbours than ports") {
    constexpr std::uint64_t seed = 31;
    INFO("seed " << seed);
    base::Random random(seed);
    for (const GraphKind kind : {GraphKind::cycles, GraphKind::circulant, GraphKind::random})
        for (const std::int32_t n : {2, 3, 5, 6, 9, 16, 33})
            for (std::int32_t ports = n == 2 ? 1 : 2; ports <= 6; ++ports) {
                const Graph graph = random_graph(kind, n, ports, random);
                const auto there = distances(graph, 0);
                CHECK(std::ranges::count(there, -1) == 0);
                for (std::int32_t node = 0; node < n; ++node) {
                    const auto& own = graph[static_cast<std::size_t>(node)];
                    CHECK(std::ssize(own) <= std::min(ports, n - 1));
                    CHECK(std::set<std::int32_t>(own.begin(), own.end()).size() == own.size());
                    for (const std::int32_t other : own)
                        CHECK(std::ranges::count(graph[static_cast<std::size_t>(other)], node) == 1);
                }
            }
    const Graph tree = level_tree(8, 3);
    CHECK(tree[0] == std::vector<std::int32_t>{1, 2, 3});
    CHECK(tree[1] == std::vector<std::int32_t>{0, 4, 5});
    CHECK(distances(tree, 7) == std::vector<std::int32_t>{2, 3, 1, 3, 4, 4, 2, 0});
}

TEST_CASE("the fewest rounds of one message") {
    // [Takizawa], p = 32: 16, 6, 6 and 5 rounds in one configuration of 2 to 5 ports.
    for (const auto& [ports, rounds] : std::map<std::int32_t, std::int64_t>{{2, 16}, {3, 6}, {4, 6}, {5, 5}}) {
        const auto found = fewest_rounds(32, ports, Injection::one);
        REQUIRE(!found.empty());
        CHECK(found[0] == std::vector<std::int64_t>{rounds});
        CHECK(reach(rounds, ports, Injection::one, 1000) >= 32);
        CHECK(reach(rounds - 1, ports, Injection::one, 1000) < 32);
    }
    // One port: as many configurations as the nodes double.
    const auto of_one = fewest_rounds(9, 1, Injection::one);
    REQUIRE(of_one.size() == 4);
    CHECK(of_one[0].empty());
    CHECK(of_one[3] == std::vector<std::int64_t>{1, 1, 1, 1});
    CHECK(fewest_rounds(1, 3, Injection::one).empty());
    CHECK(reach(2, 3, Injection::all, 1000) == 1 + 3 + 3 * 2);
}

TEST_CASE("a broadcast of one message by configurations takes as many rounds and reaches all") {
    for (const std::int32_t p : {2, 3, 7, 20, 33})
        for (const std::int32_t k : {1, 2, 3, 5})
            for (const Injection injection : {Injection::one, Injection::all}) {
                const Rules rules = rules_of(p, k, injection);
                for (const auto& rounds : fewest_rounds(p, k, injection)) {
                    if (rounds.empty()) continue;
                    const Draft draft = configurations_draft(rules, 1000, rounds);
                    CHECK(configurations(draft) == std::ssize(rounds));
                    CHECK(std::ssize(draft.messages) == p - 1);
                    std::int64_t sum = 0;
                    for (const std::int64_t one : rounds) sum += one;
                    const double connection_s = static_cast<double>(rounds.size()) * 10e-3;
                    CHECK(circuits::timed(draft, rules).makespan_s ==
                          Approx(connection_s + static_cast<double>(sum) * rules.message_s(1000)));
                }
            }
}

TEST_CASE("segments round a ring take the fewest rounds") {
    for (const std::int32_t p : {2, 4, 6, 12, 32})
        for (const std::int32_t m : {1, 2, 3, 8, 31, 40}) {
            const auto messages = ring_broadcast(p, m);
            std::set<std::tuple<std::int32_t, std::int32_t>> senders, receivers, got;
            for (const RoundMessage& one : messages) {
                CHECK(one.round < m - 1 + std::max(p / 2, 1));
                CHECK((one.to == (one.from + 1) % p || one.from == (one.to + 1) % p));
                CHECK(senders.insert({one.round, one.from}).second);
                CHECK(receivers.insert({one.round, one.to}).second);
                CHECK((one.from == 0 || got.contains({one.from, one.segment})));
                got.insert({one.to, one.segment});
            }
            for (std::int32_t node = 1; node < p; ++node)
                for (std::int32_t segment = 0; segment < m; ++segment) CHECK(got.contains({node, segment}));
        }
}

TEST_CASE("steps of an allgather give all blocks to all, each once") {
    for (const std::int32_t p : {2, 3, 5, 6, 8, 13, 16})
        for (const std::int32_t ports : {1, 2, 4, 5})
            for (const Steps& steps : allgather_steps(p, 8, ports)) {
                INFO(std::string(steps.algorithm) << ", " << p << " nodes, " << ports << " ports");
                const Draft draft = by_configurations(steps, p, ports);
                std::vector<std::set<std::int32_t>> held(static_cast<std::size_t>(p));
                for (std::int32_t i = 0; i < p; ++i) held[static_cast<std::size_t>(i)].insert(i);
                for (const auto& own : carried_out(draft, held, ports)) CHECK(std::ssize(own) == p);
            }
}

TEST_CASE("steps of an alltoall bring each block where it must be") {
    for (const std::int32_t p : {2, 3, 5, 6, 9, 12, 16})
        for (const std::int32_t ports : {1, 2, 3, 4}) {
            std::int32_t direct = 1 << 30;
            for (const Steps& steps : alltoall_steps(p, 8, ports)) {
                INFO(std::string(steps.algorithm) << ", " << p << " nodes, " << ports << " ports");
                const Draft draft = by_configurations(steps, p, ports);
                std::vector<std::set<std::int32_t>> held(static_cast<std::size_t>(p));
                for (std::int32_t i = 0; i < p; ++i)
                    for (std::int32_t to = 0; to < p; ++to) held[static_cast<std::size_t>(i)].insert(i * p + to);
                const auto at_end = carried_out(draft, held, ports);
                for (std::int32_t i = 0; i < p; ++i)
                    for (std::int32_t from = 0; from < p; ++from)
                        CHECK(at_end[static_cast<std::size_t>(i)].contains(from * p + i));
                if (steps.algorithm == "pairwise" || steps.algorithm == "rotations")
                    direct = std::min(direct, configurations(draft));
            }
            // A configuration in which all nodes use all ports is none where p and k are odd.
            const std::int32_t least = p % 2 == 1 && ports % 2 == 1 ? (p + ports - 1) / ports : (p + ports - 2) / ports;
            CHECK(direct == least);
        }
}

TEST_CASE("bounds of known cases") {
    const Rules rules = rules_of(32, 3);
    const double both_s = 10e-3;
    // One message: exact.
    CHECK(circuit_bound_s(Collective::bcast, rules, 1, 1) == Approx(both_s + 6 * rules.message_s(1)));
    // Any division: the root sends all, and the last segment has four hops of alpha more at least.
    CHECK(circuit_bound_s(Collective::bcast, rules, 1e6, {}) >= both_s + 8e-3 + 5e-4);
    CHECK(circuit_bound_s(Collective::allgather, rules, 1e6, 1) >= both_s + 1e-4 + 31 * 8e-3);
    // Three neighbours: 3 nodes at one hop, 6 at two, 12 at three and 10 at four.
    CHECK(circuit_bound_s(Collective::alltoall, rules, 1e5, 1) ==
          Approx(std::min(both_s + 1e-4 + (3 + 12 + 36 + 40) * 8e-4, 2 * both_s + 1e-4 + (6 + 2 * 25) * 8e-4)));
    CHECK(circuit_bound_s(Collective::allreduce, rules_of(1, 1), 1e6, 1) == 0);
    // A reduction is a broadcast backwards, with set-up and teardown exchanged, where a node sends on all its ports.
    const Rules all_ports = rules_of(32, 3, Injection::all);
    Rules backwards = all_ports;
    std::swap(backwards.times.setup_s, backwards.times.teardown_s);
    CHECK(circuit_bound_s(Collective::reduce, all_ports, 1e5, 4) ==
          circuit_bound_s(Collective::bcast, backwards, 1e5, 4));
}
