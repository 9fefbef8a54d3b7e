// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/schedule/validate.hpp"
#include "hocket/search/broadcast.hpp"
#include "hocket/search/network_tree.hpp"
#include "hocket/search/state.hpp"
#include "hocket/search/transfers.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using namespace hocket::search;

namespace {

constexpr std::int64_t bytes = 1'000'000;

/// Switches and hosts, some of them between others, some with two ranks, with one bandwidth a direction or half duplex.
Network random_network(base::Random& random, bool latencies) {
    network::Blueprint blueprint;
    blueprint.name = "random";
    const auto bandwidth = [&] { return static_cast<double>(1 + random.below(4)) * 25e6; };
    const auto latency = [&] { return latencies ? static_cast<double>(random.below(3)) * 1e-4 : 0.0; };
    const std::int64_t num_inner = 1 + random.below(3), num_outer = 2 + random.below(3);
    for (std::int64_t i = 0; i < num_inner + num_outer; ++i) {
        const bool host = i >= num_inner || random.below(3) == 0;
        const std::int32_t ranks = !host ? 0 : random.below(5) == 0 ? 2 : 1;
        network::Blueprint::Node node{"n" + std::to_string(i), host ? NodeKind::host : NodeKind::switch_, ranks};
        if (ranks == 2 && random.below(2) == 0) node.memory_bandwidth_bytes_per_s = 400e6;
        blueprint.nodes.push_back(node);
        if (i == 0) continue;
        const auto other = static_cast<std::int32_t>(random.below(std::min(i, num_inner)));
        network::Blueprint::Cable cable{
            static_cast<std::int32_t>(i), other, bandwidth(), bandwidth(), latency(), latency(), random.below(4) == 0};
        if (cable.half_duplex) cable.bandwidth_back_bytes_per_s = cable.bandwidth_bytes_per_s;
        blueprint.cables.push_back(cable);
    }
    return network::build(blueprint);
}

Timeline simulate_reserved(const Program& program, const Network& network, bool reference = false) {
    return simulate(program, network, {.costs = {{.sharing = Sharing::reserve}}, .reference = reference});
}

/// That the simulator gives each transfer its end, which the search rounds up to a nanosecond, and the reference the
/// same.
void check_times(const Tree& tree, const Network& network, std::span<const Transfer> transfers) {
    const Program program = timed_program_of(tree, transfers);
    for (const bool reference : {false, true}) {
        const Timeline timeline = simulate_reserved(program, network, reference);
        double worst_early_s = 0, worst_late_s = 0, end_s = 0;
        for (const Transfer& t : transfers) {
            const RankProgram& target = program.ranks[static_cast<std::size_t>(t.target)];
            std::size_t recv = 0;
            while (target.ops[recv].kind != ProgramOpKind::recv || target.ops[recv].peer != Rank{t.source}) ++recv;
            const double expected_s = 1e-9 * static_cast<double>(t.end_ns);
            const double found_s = timeline.ranks[static_cast<std::size_t>(t.target)][recv].end_s;
            worst_early_s = std::max(worst_early_s, expected_s - found_s);
            worst_late_s = std::max(worst_late_s, found_s - expected_s);
            end_s = std::max(end_s, expected_s);
        }
        CHECK(worst_early_s < 1e-9 * (1 + 1e-6));
        CHECK(worst_late_s <= 1e-12 * end_s);
        CHECK(timeline.makespan_s <= end_s * (1 + 1e-12));
        CHECK(timeline.makespan_s >= end_s - 1e-9 * (1 + 1e-6));
    }
}

}  // namespace

TEST_CASE("schedules of broadcasts and reductions take the time that the search gives") {
    const std::uint64_t seed = 20'040'608;
    MESSAGE("seed " << seed);
    base::Random random(seed);
    for (int i = 0; i < 150; ++i) {
        CAPTURE(i);
        const bool latencies = i % 3 == 0;
        const Network network = random_network(random, latencies);
        const Tree tree = tree_of(network, bytes);
        const auto root = static_cast<std::int32_t>(random.below(network.num_ranks()));

        const BroadcastResult found = fastest_broadcast(tree, {&root, 1});
        REQUIRE(found.optimal);
        REQUIRE(faults_of(tree, {&root, 1}, found.transfers) == "");
        const Schedule bcast = bcast_of(tree, root, found.transfers);
        const Validation validation = validate(bcast);
        INFO((validation.ok() ? "" : validation.violations.front()));
        REQUIRE(validation.ok());

        const Tree back = reversed(tree);
        const BroadcastResult mirrored = fastest_broadcast(back, {&root, 1});
        REQUIRE(mirrored.optimal);
        REQUIRE(faults_of(back, {&root, 1}, mirrored.transfers) == "");
        const Schedule reduce = reduce_of(tree, root, mirrored.transfers);
        REQUIRE(validate(reduce).ok());
        REQUIRE(validate(bcast_of(tree, root, found.transfers, Order::free)).ok());
        REQUIRE(validate(reduce_of(tree, root, mirrored.transfers, Order::free)).ok());

        check_times(tree, network, found.transfers);
        check_times(tree, network, reversed(mirrored.transfers));
        if (latencies) continue;  // to announce an end takes time
        const auto makespan_s = [&](const Schedule& schedule) {
            return simulate_reserved(lower(schedule, bytes), network).makespan_s;
        };
        CHECK(makespan_s(bcast) == doctest::Approx(1e-9 * static_cast<double>(found.makespan_ns)).epsilon(1e-6));
        CHECK(makespan_s(reduce) == doctest::Approx(1e-9 * static_cast<double>(mirrored.makespan_ns)).epsilon(1e-6));
    }
}

TEST_CASE("any schedule of the search takes the time that the search gives") {
    const std::uint64_t seed = 20'261'018;
    MESSAGE("seed " << seed);
    base::Random random(seed);
    for (int i = 0; i < 2000; ++i) {
        CAPTURE(i);
        const Network network = random_network(random, i % 4 > 0);
        const std::int64_t size = i % 3 == 0 ? 1 + random.below(10'000) : bytes;  // delays are long beside these
        const bool backwards = i % 2 == 0;
        const Tree tree = tree_of(network, size), searched = backwards ? reversed(tree) : tree_of(network, size);
        const std::int32_t n = tree.num_computers();
        std::vector<std::int32_t> holders{static_cast<std::int32_t>(random.below(n))};
        for (std::int32_t c = 0; c < n && !backwards; ++c)
            if (c != holders.front() && random.below(6) == 0) holders.push_back(c);
        State state(searched, holders);
        while (!state.complete()) {
            const auto s = static_cast<std::int32_t>(random.below(n)), r = static_cast<std::int32_t>(random.below(n));
            if (!state.informed(s) || state.informed(r)) continue;
            state.add(s, r, state.earliest_start(s, r));
        }
        REQUIRE(faults_of(searched, holders, state.transfers()) == "");
        if (backwards)
            check_times(tree, network, reversed(state.transfers()));
        else
            check_times(tree, network, state.transfers());
    }
}

TEST_CASE("a transfer waits for those that leave it no room, and for no other") {
    const Network network = network::generate_network("star:4");
    const Tree tree = tree_of(network, bytes);
    const std::int64_t t = tree.duration_ns(0, 1);
    // 0 feeds 1, 2 and 3: 2 gets a message from 1, 3 from 2.
    const std::vector<Transfer> linear{{0, 1, 0, t}, {0, 2, t, 2 * t}, {0, 3, 2 * t, 3 * t}};
    const auto waits = waits_of(tree, linear);
    CHECK(waits == std::vector<std::vector<std::int32_t>>{{}, {0}, {1}});
    const Schedule schedule = bcast_of(tree, 0, linear);
    CHECK(validate(schedule).ok());
    CHECK(schedule.ranks[0].ops.size() == 5);
    CHECK(schedule.ranks[1].ops.size() == 2);
    // A binomial tree needs one message: 1 has the data itself.
    const std::vector<Transfer> binomial{{0, 1, 0, t}, {0, 2, t, 2 * t}, {1, 3, t, 2 * t}};
    CHECK(waits_of(tree, binomial) == std::vector<std::vector<std::int32_t>>{{}, {0}, {}});
}

TEST_CASE("members of a communicator are the computers, others may relay") {
    const Network network = network::generate_network("two-clusters:3+3");
    const std::vector<Rank> members{Rank{5}, Rank{0}, Rank{4}};
    const Tree tree = tree_of(network, bytes, members);
    CHECK(tree.num_computers() == 3);
    const std::int32_t root = 0;
    const BroadcastResult found = fastest_broadcast(tree, {&root, 1});
    CHECK(found.makespan_ns == 2 * tree.duration_ns(0, 1));
    CHECK(validate(bcast_of(tree, 0, found.transfers)).ok());
    CHECK_THROWS_WITH_AS(tree_of(network, bytes, std::vector{Rank{1}, Rank{1}}), doctest::Contains("comes twice"),
                         InvalidInput);
}

TEST_CASE("what is not a tree for the search is refused") {
    CHECK_THROWS_WITH_AS(tree_of(network::generate_network("torus:3x3"), bytes),
                         doctest::Contains("cables form cycles"), InvalidInput);
    CHECK_THROWS_WITH_AS(tree_of(network::generate_network("star:4"), 0), doctest::Contains("expected at least 1"),
                         InvalidInput);
}
