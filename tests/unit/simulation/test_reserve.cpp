// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "examples.hpp"
#include "hocket/base/random.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using namespace hocket::examples;
using doctest::Approx;

namespace {

Timeline simulate_reserved(const Program& program, const Network& network, bool reference = false) {
    return simulate(program, network,
                    {.costs = {{.reduce_bytes_per_s = 500, .sharing = Sharing::reserve}}, .reference = reference});
}

/// Numbers so coarse that windows begin where others end, and messages become ready together.
void coarsen(Program& program, network::Blueprint& blueprint) {
    for (RankProgram& rank : program.ranks)
        for (ProgramOp& op : rank.ops) {
            op.bytes = (op.bytes + 199) / 200 * 200;
            op.seconds = std::ceil(4 * op.seconds) / 4;
        }
    const auto bandwidth = [](double b) { return std::ceil(b / 400) * 100; };
    for (network::Blueprint::Cable& cable : blueprint.cables) {
        cable.bandwidth_bytes_per_s = bandwidth(cable.bandwidth_bytes_per_s);
        cable.bandwidth_back_bytes_per_s = bandwidth(cable.bandwidth_back_bytes_per_s);
        cable.latency_s = std::ceil(cable.latency_s * 30) / 4;
        cable.latency_back_s = std::ceil(cable.latency_back_s * 30) / 4;
    }
}

}  // namespace

TEST_CASE("reserved bandwidth: the same as by the plain rules, with and without latencies") {
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        network::Blueprint blueprint = random_tree(random, 3 + static_cast<std::int32_t>(random.below(6)));
        std::int32_t ranks = 0;
        for (const network::Blueprint::Node& node : blueprint.nodes) ranks += node.ranks;
        Program program = random_program(random, ranks, 60);
        if (seed % 3 > 0) coarsen(program, blueprint);
        if (seed % 4 == 0)
            for (network::Blueprint::Cable& cable : blueprint.cables) cable.latency_s = cable.latency_back_s = 0;
        const Network network = network::build(blueprint);
        const Timeline timeline = simulate_reserved(program, network);
        const Timeline expected = simulate_reserved(program, network, true);
        double worst = 0;
        for (std::size_t r = 0; r < program.ranks.size(); ++r)
            for (std::size_t i = 0; i < program.ranks[r].ops.size(); ++i) {
                worst = std::max(worst, std::abs(timeline.ranks[r][i].start_s - expected.ranks[r][i].start_s));
                worst = std::max(worst, std::abs(timeline.ranks[r][i].end_s - expected.ranks[r][i].end_s));
            }
        CHECK(worst <= 1e-9 * expected.makespan_s);
    }
}

TEST_CASE("reserved bandwidth: windows on a link follow the delays to it") {
    // a and b are 1 s and 3 s before the switch, c is behind it; each message takes 10 s on a link.
    network::Blueprint blueprint;
    blueprint.name = "delays";
    for (const char* name : {"a", "b", "c"}) blueprint.nodes.push_back({name, NodeKind::host, 1});
    blueprint.nodes.push_back({"s", NodeKind::switch_, 0});
    const double latency_s[] = {1, 3, 0};
    for (std::int32_t i = 0; i < 3; ++i)
        blueprint.cables.push_back({i, 3, 100, 100, latency_s[i], latency_s[i], false});
    const Network network = network::build(blueprint);
    Program program = empty(3);
    message(program, 0, 2, 1000);
    message(program, 1, 2, 1000);
    message(program, 0, 2, 1000);
    const Timeline timeline = simulate_reserved(program, network);
    // a's first message is on the link to c from 1 s to 11 s; b's starts at 8 s to be there then, until 21 s. a's
    // second one could be sent from 10 s on, but is to be there after b's.
    CHECK(timeline.ranks[2][0].end_s == doctest::Approx(11));
    CHECK(timeline.ranks[2][1].end_s == doctest::Approx(21));
    CHECK(timeline.ranks[2][2].end_s == doctest::Approx(31));
    CHECK(timeline.ranks[0][0].end_s == doctest::Approx(10));
    CHECK(timeline.ranks[1][0].end_s == doctest::Approx(18));
    CHECK(timeline.ranks[0][1].end_s == doctest::Approx(30));
}

TEST_CASE("reserved bandwidth gives the published optimal broadcast its times") {
    // [Hourai]: nodes of two processors; processors 0 to 5 behind Fast Ethernet, 6 to 11 behind Gigabit Ethernet, the
    // switches joined by Fast Ethernet; bandwidths from its times of 1 MB: 2.2, 10.1 and 86 ms.
    constexpr double fast = 1e6 / 86e-3, gigabit = 1e6 / 10.1e-3, memory = 1e6 / 2.2e-3;
    network::Blueprint blueprint;
    blueprint.name = "two clusters";
    const auto add_node = [&](const std::string& name, NodeKind kind) {
        blueprint.nodes.push_back({name, kind, kind == NodeKind::host ? 1 : 0});
        return static_cast<std::int32_t>(blueprint.nodes.size()) - 1;
    };
    for (int cpu = 0; cpu < 12; ++cpu) add_node("p" + std::to_string(cpu), NodeKind::host);
    std::int32_t switches[2];
    for (std::int32_t cluster = 0; cluster < 2; ++cluster) {
        const double bandwidth = cluster == 0 ? fast : gigabit;
        switches[cluster] = add_node("s" + std::to_string(cluster), NodeKind::switch_);
        for (std::int32_t i = 3 * cluster; i < 3 * cluster + 3; ++i) {
            const std::int32_t node = add_node("n" + std::to_string(i), NodeKind::switch_);
            blueprint.cables.push_back({node, switches[cluster], bandwidth, bandwidth, 0, 0, false});
            for (const std::int32_t cpu : {2 * i, 2 * i + 1})
                blueprint.cables.push_back({cpu, node, memory, memory, 0, 0, false});
        }
    }
    blueprint.cables.push_back({switches[0], switches[1], fast, fast, 0, 0, false});
    const Network network = network::build(blueprint);

    struct Step {
        std::int32_t from, to;
        double start_ms;
    };
    const Step steps[] = {{0, 6, 0},       {0, 2, 86},    {6, 8, 86},  {6, 4, 96.1}, {8, 10, 96.1}, {8, 9, 106.2},
                          {10, 11, 106.2}, {8, 7, 108.4}, {0, 1, 172}, {2, 3, 172},  {4, 5, 182.1}};
    Program program = empty(12);
    std::vector<std::int32_t> received(12, -1);
    for (const Step& step : steps) {
        RankProgram& from = program.ranks[static_cast<std::size_t>(step.from)];
        const std::int32_t before = received[static_cast<std::size_t>(step.from)];
        add(from, send(step.to, 1'000'000), before < 0 ? std::vector<std::int32_t>{} : std::vector{before});
        received[static_cast<std::size_t>(step.to)] =
            add(program.ranks[static_cast<std::size_t>(step.to)], recv(step.from, 1'000'000));
    }
    const Timeline timeline = simulate(program, network, {.costs = {{.sharing = Sharing::reserve}}});
    CHECK(timeline.makespan_s == Approx(184.3e-3));
    for (const Step& step : steps) {
        CAPTURE(step.to);
        const bool same_node = step.from / 2 == step.to / 2, far = step.from / 6 != step.to / 6;
        const double takes_ms = same_node ? 2.2 : far || step.from < 6 ? 86 : 10.1;
        CHECK(1e3 * timeline.ranks[static_cast<std::size_t>(step.to)][0].end_s == Approx(step.start_ms + takes_ms));
    }
}
