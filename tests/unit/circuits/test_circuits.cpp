// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/circuits/simulate.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/circuits.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/generate.hpp"

using namespace hocket;
using circuits::Accounting;
using circuits::Policy;
using doctest::Approx;

namespace {

Network optical(std::int32_t hosts, network::Circuits rules, double latency_s = 1e-4, double bandwidth = 125e6) {
    network::Blueprint blueprint =
        network::star(hosts, {.bandwidth_bytes_per_s = bandwidth, .latency_s = latency_s / 2});
    rules.switches = {hosts};
    blueprint.circuits = rules;
    return network::build(blueprint);
}

Program program_of(Collective collective, const char* algorithm, std::int32_t p, std::int64_t bytes) {
    return lower(collectives::emit(collectives::find_algorithm(collective, algorithm), {p, 1}, {}), bytes);
}

/// No host has more circuits at a time than ports, and no circuit carries what is not up.
void check_ports(const circuits::CircuitTimeline& found, const Network& network) {
    const auto& rules = *network.circuits();
    for (const auto& one : found.circuits) {
        CHECK(one.open_s >= one.setup_s + rules.times.setup_s);
        CHECK(one.teardown_s >= one.open_s);
        std::int32_t first = 0, second = 0;
        for (const auto& other : found.circuits) {
            const double free_s = rules.times.accounting == Accounting::equations ? other.down_s : other.teardown_s;
            if (other.setup_s > one.setup_s || free_s <= one.setup_s) continue;
            first += other.a == one.a || other.b == one.a ? 1 : 0;
            second += other.a == one.b || other.b == one.b ? 1 : 0;
        }
        CHECK(first <= rules.ports);
        CHECK(second <= rules.ports);
    }
}

}  // namespace

TEST_CASE("simulated times equal the equations of [Takizawa]") {
    constexpr std::uint64_t seed = 20260;
    base::Random random(seed);
    INFO("seed " << seed);
    const auto uniform = [&](double least, double most) {
        return least + (most - least) * static_cast<double>(random.below(1 << 20)) / (1 << 20);
    };
    struct Case {
        Collective collective;
        const char* algorithm;
    };
    for (int round = 0; round < 60; ++round) {
        const std::int32_t p = 2 << random.below(5);
        const std::int32_t k = 1 + static_cast<std::int32_t>(random.below(6));
        const auto bytes = static_cast<std::int64_t>(std::exp(uniform(0, 14)));
        const double setup_s = uniform(0, 0.02), teardown_s = uniform(0, 0.02);
        for (const auto& [collective, algorithm] :
             {Case{Collective::bcast, "linear"}, Case{Collective::bcast, "binomial"},
              Case{Collective::allgather, "ring"}, Case{Collective::allgather, "recursive_doubling"}}) {
            const Program program = program_of(collective, algorithm, p, bytes);
            for (const auto accounting : {Accounting::equations, Accounting::hidden}) {
                const network::Circuits rules{.times = {setup_s, teardown_s, accounting}, .ports = k};
                const Network network = optical(p, rules);
                const auto equation = [&](std::optional<std::int32_t> ports) {
                    return cost::circuit_cost(
                        collective, algorithm,
                        {p, ports, static_cast<double>(bytes), 1e-4, 125e6, {setup_s, teardown_s, accounting}});
                };
                CAPTURE(algorithm);
                CAPTURE(p);
                CAPTURE(k);
                CAPTURE(static_cast<int>(accounting));
                const auto batch = circuits::simulate(program, network, Policy::batch);
                check_ports(batch, network);
                CHECK(batch.end_s == Approx(equation(k).total_s()).epsilon(1e-9));
                const auto naive = circuits::simulate(program, network, Policy::naive);
                check_ports(naive, network);
                CHECK(naive.end_s == Approx(equation(std::nullopt).total_s()).epsilon(1e-9));
            }
        }
    }
}

TEST_CASE("lazy circuits stay until their port is wanted") {
    const Network network = optical(8, {.times = {0.01, 0.01}, .ports = 3});
    // Recursive doubling over 8 nodes needs three circuits a node: the second call finds them all.
    Program twice = program_of(Collective::allgather, "recursive_doubling", 8, 1000);
    const auto once = circuits::simulate(twice, network, Policy::lazy);
    check_ports(once, network);
    CHECK(once.circuits.size() == 12);
    const Network narrow = optical(8, {.times = {0.01, 0.01}, .ports = 2});
    const auto evicting = circuits::simulate(twice, narrow, Policy::lazy);
    check_ports(evicting, narrow);
    CHECK(evicting.circuits.size() == 12);
    CHECK(evicting.end_s > once.end_s);
}

TEST_CASE("pinned circuits take their set-up once") {
    const std::int32_t p = 16;
    const Network network = optical(p, {.times = {0.01, 0.01}, .ports = 4});
    std::vector<circuits::HostPair> hypercube;
    for (std::int32_t a = 0; a < p; ++a)
        for (std::int32_t bit = 1; bit < p; bit *= 2)
            if ((a & bit) == 0) hypercube.push_back({NodeId{a}, NodeId{a | bit}});
    const Program program = program_of(Collective::allgather, "recursive_doubling", p, 1000);
    const auto found = circuits::simulate(program, network, Policy::pinned, {}, hypercube);
    CHECK(found.circuits.size() == 32);
    CHECK(found.end_s == Approx(0.02 + 4 * 1e-4 + 15 * 1000 / 125e6));
    hypercube.push_back({NodeId{0}, NodeId{15}});
    CHECK_THROWS_WITH_AS(circuits::simulate(program, network, Policy::pinned, {}, hypercube),
                         doctest::Contains("no port or wavelength is left"), InvalidInput);
}

TEST_CASE("any program ends, whatever the rules") {
    constexpr std::uint64_t seed = 4711;
    base::Random random(seed);
    INFO("seed " << seed);
    for (int round = 0; round < 150; ++round) {
        const std::int32_t p = 2 + static_cast<std::int32_t>(random.below(11));
        network::Circuits rules{
            .times = {0.001 * static_cast<double>(random.below(10)), 0.001 * static_cast<double>(random.below(10)),
                      static_cast<Accounting>(random.below(2))},
            .injection = static_cast<circuits::Injection>(random.below(2)),
            .stop = static_cast<circuits::Stop>(random.below(2)),
            .controller = static_cast<circuits::Controller>(random.below(2)),
            .ports = 1 + static_cast<std::int32_t>(random.below(4))};
        if (random.below(2) == 0) rules.wavelengths = 1 + static_cast<std::int32_t>(random.below(3));
        const Network network = optical(p, rules);
        for (const auto& algorithm : collectives::all_algorithms()) {
            const Program program =
                lower(collectives::emit(algorithm, {p, 1}, {}), 1 + static_cast<std::int64_t>(random.below(5000)));
            for (const Policy policy : {Policy::naive, Policy::batch, Policy::lazy}) {
                CAPTURE(algorithm.name);
                CAPTURE(p);
                CAPTURE(round);
                CAPTURE(static_cast<int>(policy));
                const auto found = circuits::simulate(program, network, policy);
                CHECK(found.completed);
                if (!rules.wavelengths) check_ports(found, network);
            }
        }
    }
}

TEST_CASE("the equations hold for 1,024 nodes") {
    constexpr std::int32_t p = 1024;
    struct Case {
        Collective collective;
        const char* algorithm;
        std::int32_t ports;
    };
    for (const auto& [collective, algorithm, ports] :
         {Case{Collective::bcast, "binomial", 3}, Case{Collective::allgather, "recursive_doubling", 4},
          Case{Collective::allgather, "recursive_doubling", 10}}) {
        const Network network = optical(p, {.times = {0.003, 0.007, Accounting::hidden}, .ports = ports});
        const Program program = program_of(collective, algorithm, p, 1000);
        const cost::CircuitQuestion question{p, ports, 1000, 1e-4, 125e6, {0.003, 0.007, Accounting::hidden}};
        CAPTURE(algorithm);
        CAPTURE(ports);
        CHECK(circuits::simulate(program, network, Policy::batch).end_s ==
              Approx(cost::circuit_cost(collective, algorithm, question).total_s()).epsilon(1e-9));
    }
}

TEST_CASE("a message waits for a port that its host gets later") {
    network::Circuits rules{.times = {0.01, 0.02}, .node_ports = {{0, 0}}};
    rules.changes = {{1.0, false, 0, 1}};
    const Network network = optical(3, rules);
    Program program{std::vector<RankProgram>(3)};
    program.ranks[0].add({ProgramOpKind::send, Rank{1}, 0, 1250});
    program.ranks[1].add({ProgramOpKind::recv, Rank{0}, 0, 1250});
    for (const Policy policy : {Policy::naive, Policy::lazy, Policy::batch}) {
        const auto found = circuits::simulate(program, network, policy);
        CHECK(found.makespan_s == Approx(1.01 + 1e-4 + 1e-5));
        CHECK(found.end_s == Approx(1.03 + 1e-4 + 1e-5));
        CHECK(found.waiting_s == Approx(1.01));
    }
}

TEST_CASE("a batch has the ports of the moment at which it is made") {
    const Program program = program_of(Collective::allgather, "recursive_doubling", 8, 1000);
    const auto end_s = [&](std::int32_t ports, std::vector<network::Circuits::Change> changes) {
        network::Circuits rules{.times = {0.01, 0.01}, .ports = std::max(ports, 1)};
        for (std::int32_t host = 0; ports == 0 && host < 8; ++host) rules.node_ports.emplace_back(host, 0);
        rules.changes = std::move(changes);
        return circuits::simulate(program, optical(8, rules), Policy::batch).end_s;
    };
    CHECK(end_s(3, {{1000.0, false, 0, 1}}) == end_s(3, {}));
    // The first batch of three circuits is up when host 0 has one port left: nothing changes for it.
    CHECK(end_s(3, {{0.005, false, 0, 1}}) == end_s(3, {}));
    // Two batches, the second with three ports or one: it has one round.
    CHECK(end_s(2, {{0.005, false, 0, 3}}) == end_s(2, {}));
    // A host without ports at first.
    std::vector<network::Circuits::Change> later;
    for (std::int32_t host = 0; host < 8; ++host) later.push_back({0.5, false, host, 3});
    CHECK(end_s(0, later) == Approx(0.5 + end_s(3, {})));
}

TEST_CASE("a batch of one circuit a host is no slower than a circuit for each message") {
    for (const std::int32_t p : {3, 4, 5, 7, 8, 16})
        for (const auto& [collective, algorithm] : {std::pair{Collective::allgather, "ring"},
                                                    {Collective::allgather, "bruck"},
                                                    {Collective::alltoall, "linear"},
                                                    {Collective::barrier, "dissemination"}})
            for (const auto& limits : {network::Circuits{.ports = 1}, {.ports = 4, .wavelengths = 1}}) {
                network::Circuits rules = limits;
                rules.times = {0.01, 0.005};
                const Network network = optical(p, rules);
                const Program program = program_of(collective, algorithm, p, 1000);
                CAPTURE(p);
                CAPTURE(algorithm);
                CAPTURE(rules.ports);
                CHECK(circuits::simulate(program, network, Policy::batch).end_s <=
                      circuits::simulate(program, network, Policy::naive).end_s * (1 + 1e-9));
            }
}

TEST_CASE("a circuit that can never be set up is named") {
    Program program{std::vector<RankProgram>(3)};
    program.ranks[0].add({ProgramOpKind::send, Rank{2}, 0, 1250});
    program.ranks[2].add({ProgramOpKind::recv, Rank{0}, 0, 1250});
    network::Circuits rules{.times = {0.01, 0.02}, .node_ports = {{2, 0}}};
    for (const Policy policy : {Policy::naive, Policy::lazy, Policy::batch})
        CHECK_THROWS_WITH_AS(circuits::simulate(program, optical(3, rules), policy),
                             doctest::Contains("can never be set up, and a message waits for it: \"h2\" has no port"),
                             InvalidInput);
    CHECK_THROWS_WITH_AS(circuits::simulate(program, optical(3, {.times = {0.01, 0.02}, .ports = 1}), Policy::pinned,
                                            {}, {{NodeId{0}, NodeId{1}}}),
                         doctest::Contains("\"h0\" has 1 port, taken by circuits to \"h1\""), InvalidInput);
}

TEST_CASE("wavelengths are the same on all cables of a circuit") {
    // Circuits 0-1 and 2-1 share the cable of host 1. Its one wavelength is 0; that of 0-1 goes first.
    const network::Circuits rules{.times = {0.01, 0.02}, .ports = 2, .wavelengths = 1};
    const Network network = optical(3, rules);
    Program program{std::vector<RankProgram>(3)};
    for (const std::int32_t source : {0, 2}) {
        program.ranks[static_cast<std::size_t>(source)].add({ProgramOpKind::send, Rank{1}, 0, 1250});
        program.ranks[1].add({ProgramOpKind::recv, Rank{source}, 0, 1250});
    }
    const auto found = circuits::simulate(program, network, Policy::lazy);
    REQUIRE(found.circuits.size() == 2);
    CHECK(found.circuits[0].wavelength == 0);
    CHECK(found.circuits[1].wavelength == 0);
    CHECK(found.circuits[1].setup_s == found.circuits[0].down_s);
}

TEST_CASE("a batch gives way to a message that its own messages wait for") {
    // Ranks 0 and 1 exchange messages in a collective. Rank 1 answers when it has heard from rank 2, whose message
    // belongs to no collective and needs the only port of host 1.
    Program program{std::vector<RankProgram>(3)};
    program.ranks[0].add({ProgramOpKind::send, Rank{1}, 0, 1250});
    program.ranks[0].add({ProgramOpKind::recv, Rank{1}, 0, 1250}, {{0}});
    program.ranks[0].calls = {{0, 0, 2}};
    program.ranks[1].add({ProgramOpKind::recv, Rank{2}, 1, 1250});
    program.ranks[1].add({ProgramOpKind::recv, Rank{0}, 0, 1250});
    program.ranks[1].add({ProgramOpKind::send, Rank{0}, 0, 1250}, {{0}});
    program.ranks[1].calls = {{0, 1, 2}};
    program.ranks[2].add({ProgramOpKind::compute, Rank{}, 0, 0, 0.005});
    program.ranks[2].add({ProgramOpKind::send, Rank{1}, 1, 1250}, {{0}});
    for (const auto stop : {circuits::Stop::all, circuits::Stop::circuit}) {
        const auto found =
            circuits::simulate(program, optical(3, {.times = {0.01, 0.02}, .stop = stop, .ports = 1}), Policy::batch);
        CHECK(found.completed);
        CHECK(found.circuits.size() == 3);
        CHECK(found.num_messages == 3);
        // The answer takes a circuit of its own; the call ends when it is down.
        CHECK(found.makespan_s == Approx(3 * (0.01 + 1e-4 + 1e-5) + 3 * 0.02));
    }
}

TEST_CASE("a call ends when the circuits of its collective are down") {
    const Network network = optical(2, {.times = {0.01, 0.02}, .ports = 1});
    Program program{std::vector<RankProgram>(2)};
    program.ranks[0].add({ProgramOpKind::send, Rank{1}, 0, 1250});
    program.ranks[1].add({ProgramOpKind::recv, Rank{0}, 0, 1250});
    for (RankProgram& rank : program.ranks) {
        rank.add({ProgramOpKind::compute, Rank{}, 0, 0, 1}, {{0}});
        rank.calls = {{7, 0, 1}};
    }
    const double call_s = 0.01 + 1e-4 + 1e-5 + 0.02;
    for (const Policy policy : {Policy::naive, Policy::batch})
        CHECK(circuits::simulate(program, network, policy).makespan_s == Approx(call_s + 1));
    CHECK(circuits::simulate(program, network, Policy::lazy).makespan_s == Approx(call_s - 0.02 + 1));
}

TEST_CASE("what no circuit serves takes the electrical links") {
    // Hosts 0, 1 and 2 at circuit switch 3 and electrical switch 4, 10 times slower.
    const network::Blueprint fast = network::star(3, {.bandwidth_bytes_per_s = 125e6, .latency_s = 5e-5});
    const network::Blueprint slow = network::star(3, {.bandwidth_bytes_per_s = 12.5e6, .latency_s = 1e-3});
    network::Blueprint blueprint;
    blueprint.name = "two switches";
    blueprint.nodes = fast.nodes;
    blueprint.cables = fast.cables;
    blueprint.nodes.push_back(slow.nodes[3]);
    blueprint.nodes.back().name = "packets";
    for (network::Blueprint::Cable cable : slow.cables) {
        (cable.first == 3 ? cable.first : cable.second) = 4;
        blueprint.cables.push_back(cable);
    }
    network::Circuits rules{.times = {0.01, 0.02}, .blocked = network::Blocked::electrical, .ports = 1};
    rules.switches = {3};
    blueprint.circuits = rules;
    const Network network = network::build(blueprint);
    Program program{std::vector<RankProgram>(3)};
    for (const std::int32_t target : {1, 2}) {
        program.ranks[0].add({ProgramOpKind::send, Rank{target}, 0, 1250});
        program.ranks[static_cast<std::size_t>(target)].add({ProgramOpKind::recv, Rank{0}, 0, 1250});
    }
    const auto found = circuits::simulate(program, network, Policy::lazy);
    CHECK(found.circuits.size() == 1);
    CHECK(found.num_messages == 1);
    CHECK(found.finish_s[1] == Approx(0.01 + 1e-4 + 1e-5));
    CHECK(found.finish_s[2] == Approx(2e-3 + 1e-4));
    CHECK_THROWS_WITH_AS(circuits::simulate(program, network, Policy::batch),
                         doctest::Contains("goes with the policies lazy, pinned and program"), InvalidInput);
}

TEST_CASE("what is not simulated is refused") {
    const Program program = program_of(Collective::bcast, "binomial", 4, 1000);
    CHECK_THROWS_WITH_AS(circuits::simulate(program, network::build(network::star(4, {})), Policy::lazy),
                         doctest::Contains("has no circuits"), InvalidInput);
    const Network relays = optical(4, {.times = {0.01, 0.02}, .blocked = network::Blocked::relay});
    CHECK_THROWS_WITH_AS(circuits::simulate(program, relays, Policy::naive),
                         doctest::Contains("\"relay\" goes with the policies lazy"), InvalidInput);
    CHECK_THROWS_WITH_AS(circuits::simulate(program, relays, Policy::program), doctest::Contains("connects no circuit"),
                         InvalidInput);
}
