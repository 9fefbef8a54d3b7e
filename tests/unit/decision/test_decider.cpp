// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/cost/rounds.hpp"
#include "hocket/decision/decider.hpp"
#include "hocket/decision/large_rounds.hpp"
#include "hocket/decision/node_rounds.hpp"
#include "hocket/decision/plan_times.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/placement.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using decision::Decider;
using doctest::Approx;

namespace {

/// Hosts 0 to 3 in one group and 4 to 7 in another, joined by a cable a tenth as fast as theirs.
Network two_groups() {
    return network::build(network::generate(
        "two-clusters:4+4", {.bandwidth_bytes_per_s = 1e8, .latency_s = 2e-5, .trunk_bandwidth_bytes_per_s = 1e7}));
}

std::vector<Rank> ranks(std::initializer_list<std::int32_t> values) { return {values.begin(), values.end()}; }

constexpr Collective all_collectives[] = {Collective::bcast,     Collective::reduce,   Collective::allreduce,
                                          Collective::allgather, Collective::alltoall, Collective::reduce_scatter_block,
                                          Collective::scatter,   Collective::gather,   Collective::barrier};

}  // namespace

TEST_CASE("ranks that alternate between two groups get an order that crosses the slow cable once") {
    const Network network = two_groups();
    Decider decider(network, CostModel::usual());
    const auto members = ranks({0, 4, 1, 5, 2, 6, 3, 7});
    const auto& entries = decider.entries(Collective::bcast, members);
    REQUIRE(!entries.empty());
    const PlanEntry& large = entries.back();
    CHECK(large.bytes_max == decision::most_bytes);
    CHECK(large.schedule.algorithm()->name == "pipelined_chain");
    CHECK(large.schedule.order() == ranks({0, 2, 4, 6, 1, 3, 5, 7}));
    CHECK(!large.root.has_value());
    // Beside the time on the slow cable the pipeline's filling is little.
    CHECK(decider.predicted_s(large.schedule, members, 1'000'000'000) == Approx(100).epsilon(0.05));
}

TEST_CASE("a ring spares the slow cable, whatever the order of ranks") {
    const Network network = two_groups();
    Decider decider(network, CostModel::usual());
    const auto members = ranks({0, 4, 1, 5, 2, 6, 3, 7});
    const PlanEntry& large = decider.entries(Collective::allgather, members).back();
    CHECK(large.schedule.algorithm()->name == "uneven_ring");
    CHECK(large.schedule.order() == ranks({0, 2, 4, 6, 1, 3, 5, 7}));
    CHECK(large.schedule.starts() == std::vector<std::int32_t>{0, 4});
    const std::int64_t bytes = 1'000'000'000;
    // 4 blocks each way over the slow cable, the least possible, take 400 s. The textbook's ring sends 4 in each of
    // 7 rounds.
    CHECK(decider.predicted_s(large.schedule, members, bytes) == Approx(400).epsilon(0.01));
    CHECK(decider.native_s(Collective::allgather, members, bytes) == Approx(2800).epsilon(0.01));
}

TEST_CASE("of Open MPI its own choice is assumed") {
    const Network star = network::build(network::star(8, {.bandwidth_bytes_per_s = 1e9, .latency_s = 1e-6}));
    const auto members = ranks({0, 1, 2, 3, 4, 5, 6, 7});
    const std::int64_t bytes = 10'000'000;
    const auto native_s = [&](const Network& network, const char* mpi) {
        return Decider(network, CostModel::usual(), mpi).native_s(Collective::bcast, members, bytes);
    };
    // The root sends the message seven times, one after the other.
    CHECK(native_s(star, "Open MPI 5.0.10") == Approx(0.07).epsilon(0.01));
    CHECK(native_s(star, "Open MPI 4.1.4") == native_s(star, "Open MPI 5.0.10"));
    CHECK(native_s(star, "MPICH 4.0.2") == native_s(star, ""));
    CHECK(native_s(star, "") < 0.03);
}

TEST_CASE("where every order is alike and the textbook's algorithm is the best nothing is served") {
    const Network star = network::build(network::star(8, {.bandwidth_bytes_per_s = 1e9, .latency_s = 1e-6}));
    Decider decider(star, CostModel::usual());
    const auto members = ranks({0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(decider.entries(Collective::barrier, members).empty());
    for (const PlanEntry& entry : decider.entries(Collective::allgather, members)) CHECK(entry.bytes_max < 1 << 16);
    CHECK(decider.entries(Collective::bcast, ranks({3})).empty());
}

TEST_CASE("decisions make a plan, are the same each time, and are predicted to gain what they must") {
    const std::uint64_t seed = 20261125;
    INFO("seed " << seed);
    base::Random random(seed);
    for (const char* shape : {"two-clusters:3+6", "tree:2x2x3", "torus:3x4", "fat-tree:2x2x4/2x1", "star:9"}) {
        const Network network = network::build(network::generate(shape, {.bandwidth_bytes_per_s = 1e8}));
        std::vector<Rank> members;
        for (std::int32_t r = 0; r < network.num_ranks(); ++r) members.emplace_back(r);
        for (std::size_t i = members.size(); i-- > 1;)
            std::swap(members[i], members[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
        members.resize(static_cast<std::size_t>(2 + random.below(network.num_ranks() - 1)));
        Decider decider(network, CostModel::usual()), again(network, CostModel::usual());
        std::vector<PlanEntry> all;
        for (const Collective collective : all_collectives) {
            const auto& entries = decider.entries(collective, members);
            CHECK(&entries == &decider.entries(collective, members));
            CHECK(entries == again.entries(collective, members));
            all.insert(all.end(), entries.begin(), entries.end());
            for (const PlanEntry& entry : entries) {
                // That of the first sizes that share a decision.
                const std::int64_t bytes = (entry.bytes_min + std::max<std::int64_t>(0, 2 * entry.bytes_min - 1)) / 2;
                const double native_s = decider.native_s(collective, members, bytes);
                const double gain_s = native_s - decider.predicted_s(entry.schedule, members, bytes);
                CHECK(gain_s >= decision::least_gain * native_s * (1 - 1e-9));
                CHECK(gain_s >= decision::least_gain_s * (1 - 1e-9));
            }
        }
        CHECK(Plan(network.num_ranks(), shape, all).entries().size() == all.size());  // no two serve the same call
    }
}

TEST_CASE("a ring that is as fast as the one that the MPI is taken to use is a contender, unless that was measured") {
    const Network network = two_groups();
    const auto members = ranks({0, 1, 2, 3, 4, 5, 6, 7});  // in the best order
    const auto serves = [](const std::vector<PlanEntry>& entries, std::int64_t bytes) {
        return std::count_if(entries.begin(), entries.end(),
                             [&](const PlanEntry& entry) { return serves_call(entry, bytes, 0); });
    };
    Decider decider(network, CostModel::usual());
    network::Calibration calibration;
    for (const char* collective : {"alltoall", "allgather"})
        calibration.natives.push_back({"Some MPI 1.0", collective, "", std::nullopt, decision::most_bytes, 1, 1});
    const Network measured = Network(network).calibrated(calibration);
    Decider known(measured, CostModel::usual(), "Some MPI 1.0");
    for (const std::int64_t bytes : {0, 100, 100'000, 10'000'000})
        for (const Collective collective : all_collectives) {
            const auto served = serves(decider.entries(collective, members), bytes);
            const auto contends = serves(decider.contenders(collective, members), bytes);
            CHECK(served + contends <= 1);
            // Long calls are one or the other.
            if (bytes >= 100'000 && collective != Collective::barrier) CHECK(served + contends == 1);
            if (bytes <= 100) CHECK(contends == 0);
        }
    CHECK(serves(decider.contenders(Collective::alltoall, members), 100'000) == 1);
    CHECK(known.contenders(Collective::alltoall, members).empty());
    CHECK(known.contenders(Collective::allgather, members).empty());
}

TEST_CASE("members that are not there are refused") {
    const Network network = two_groups();
    Decider decider(network, CostModel::usual());
    CHECK_THROWS_AS(decider.entries(Collective::bcast, {}), InvalidInput);
    CHECK_THROWS_AS(decider.entries(Collective::bcast, ranks({0, 8})), InvalidInput);
    CHECK_THROWS_AS(decider.entries(Collective::bcast, ranks({0, 0})), InvalidInput);
}

TEST_CASE("what an MPI was measured to take decides where it is served, for this MPI alone") {
    const Network plain = two_groups();
    network::Calibration calibration;
    calibration.natives = {{"Some MPI 1.0", "allgather", "bruck", std::nullopt, 1000, 1, 1},
                           {"Some MPI 1.0", "allgather", "ring", std::nullopt, 1'000'000, 2, 1},
                           {"Some MPI 1.0", "bcast", "binomial", std::nullopt, 1 << 20, 1, 100}};
    const Network measured = Network(plain).calibrated(calibration);
    const auto members = ranks({0, 4, 1, 5, 2, 6, 3, 7});
    Decider unknown(measured, CostModel::usual(), "Some MPI 2.0"), known(measured, CostModel::usual(), "Some MPI 1.0");
    const auto& entries = known.entries(Collective::allgather, members);
    // It has the best algorithm for short blocks, and needs twice as long as predicted for longer ones.
    REQUIRE(!entries.empty());
    CHECK(entries.front().bytes_min > 511);
    CHECK(entries.back().bytes_max == decision::most_bytes);
    const double usual_s = unknown.native_s(Collective::allgather, members, 1'000'000);
    CHECK(known.native_s(Collective::allgather, members, 1'000'000) >= 2 * usual_s);
    CHECK(known.native_s(Collective::allgather, members, 10'000'000) ==
          Approx(10 * known.native_s(Collective::allgather, members, 1'000'000)).epsilon(0.01));
    // Schedules were far slower there than predicted.
    CHECK(known.entries(Collective::bcast, members).empty());
    CHECK(!unknown.entries(Collective::bcast, members).empty());

    calibration.natives.front().algorithm = "magic";
    const Network wrong = Network(plain).calibrated(calibration);
    CHECK_THROWS_AS(Decider(wrong, CostModel::usual()), InvalidInput);
}

TEST_CASE("what was measured of small messages says little of large ones") {
    const Network plain = two_groups();
    // Two ranks that send each other their all: it takes one message's time, and two where they take turns.
    const auto measured_at = [&](std::int64_t bytes) {
        network::Calibration calibration;
        for (const std::int64_t up_to : {bytes / 2, 2 * bytes})
            calibration.natives.push_back(
                {"Some MPI 1.0", "allreduce", "recursive_doubling", std::nullopt, up_to, 1, 1});
        return Network(plain).calibrated(calibration);
    };
    constexpr std::int64_t large = 1 << 20;
    const Network by_small = measured_at(8192), by_large = measured_at(large);
    Decider small(by_small, CostModel::usual(), "Some MPI 1.0"), same(by_large, CostModel::usual(), "Some MPI 1.0");
    const auto pair = ranks({0, 1}), members = ranks({0, 4, 1, 5, 2, 6, 3, 7});
    CHECK(same.native_s(Collective::allreduce, pair, large) ==
          Approx(2 * small.native_s(Collective::allreduce, pair, large)).epsilon(0.05));
    CHECK(same.native_s(Collective::allreduce, pair, 8192) == small.native_s(Collective::allreduce, pair, 8192));

    int num_large = 0;
    for (const PlanEntry& entry : small.entries(Collective::allreduce, members)) {
        if (entry.bytes_min <= 2 * 8192) continue;
        ++num_large;
        const std::int64_t bytes = entry.bytes_min + entry.bytes_min / 2;
        const double native_s = small.native_s(Collective::allreduce, members, bytes);
        CHECK(native_s - small.predicted_s(entry.schedule, members, bytes) >=
              decision::least_gain_unknown * native_s * (1 - 1e-6));
    }
    CHECK(num_large > 0);
}

TEST_CASE("a plan's measurements hold for other hosts of the network") {
    const Network network = two_groups();
    std::vector<std::string> hosts;  // ranks 0 to 3 of the plan are in one group
    for (const std::int32_t rank : {0, 1, 2, 3, 4, 5, 6, 7})
        hosts.push_back(network.node(network.host_of(Rank{rank})).name);
    const std::vector<std::int32_t> members{0, 1, 2, 3};
    const auto first = ranks({0, 1, 2, 3}), mixed = ranks({0, 4, 1, 5});
    Decider plain(network, CostModel::usual());
    const std::int64_t bytes = 1 << 20;
    const PlannedSchedule ring(collectives::find_algorithm(Collective::allreduce, "ring"), 4);
    PlanEntry entry{Collective::allreduce, members, bytes, bytes, std::nullopt, ring};
    entry.native_s = 3 * plain.native_s(Collective::allreduce, first, bytes);
    entry.tuned_s = 2 * plain.predicted_s(ring, first, bytes);
    entry.evidence = Evidence{"Some MPI 1.0", 2, 5, 1.5, {1.2, 1.8}};
    const Plan plan(8, network.name(), {entry}, {}, "off", hosts);
    const auto learned = decision::times_of(plan, network, CostModel::usual(), "Some MPI 1.0");
    REQUIRE(learned.size() == 1);
    CHECK(learned[0].factor == Approx(3));
    CHECK(learned[0].schedule_factor == Approx(2));
    network::Calibration calibration;
    calibration.natives = learned;
    const Network measured = Network(network).calibrated(calibration);
    Decider decider(measured, CostModel::usual(), "Some MPI 1.0");
    CHECK(decider.native_s(Collective::allreduce, mixed, 1000) ==
          Approx(3 * plain.native_s(Collective::allreduce, mixed, 1000)));
    CHECK(decision::times_of(plan, network, CostModel::usual(), "Some MPI 2.0").empty());
    hosts.back() = "elsewhere";
    CHECK(decision::times_of(Plan(8, {}, {entry}, {}, "off", hosts), network, CostModel::usual(), "Some MPI 1.0")
              .empty());
}

TEST_CASE("the rounds of many ranks are those of their ops") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        for (const std::int32_t p : {2, 3, 8, 13, 32, 70}) {
            if (algorithm.name == "scatter_allgather") continue;  // the next test
            const auto large = decision::large_rounds(algorithm, p);
            if (!large) continue;
            CAPTURE(name_of(algorithm.collective));
            CAPTURE(algorithm.name);
            CAPTURE(p);
            const Network tree = network::build(network::star(p, {.bandwidth_bytes_per_s = 1e8, .latency_s = 1e-5}));
            const Schedule schedule = collectives::emit(algorithm, {p}, {});
            std::vector<Rank> all;
            for (std::int32_t r = 0; r < p; ++r) all.emplace_back(r);
            const cost::RoundTimes exact(cost::rounds_of(schedule.ranks, schedule.segments), tree, CostModel::usual(),
                                         all);
            const cost::RoundTimes found(*large, tree, CostModel::usual(), all);
            for (const double bytes : {0.0, 1e3, 1e6})
                CHECK(found.seconds(bytes, 1, true) == Approx(exact.seconds(bytes, 1, true)).epsilon(1e-9).scale(0));
        }
    }
}

TEST_CASE("the rounds of an all-to-all among nodes are those of its ops") {
    constexpr std::uint64_t seed = 20261127;
    MESSAGE("seed ", seed);
    base::Random random(seed);
    for (int sample = 0; sample < 20; ++sample) {
        std::vector<std::int32_t> starts;  // of nodes of at least two ranks
        std::int32_t p = static_cast<std::int32_t>(random.below(2));
        for (std::int64_t nodes = 2 + random.below(6); nodes > 0; --nodes) {
            starts.push_back(p);
            p += static_cast<std::int32_t>(2 + random.below(5));
        }
        const Network star = network::build(network::star(p, {.bandwidth_bytes_per_s = 1e8, .latency_s = 1e-5}));
        std::vector<Rank> all;
        for (std::int32_t r = 0; r < p; ++r) all.emplace_back(r);
        for (const char* name : {"node_aware", "by_dimension"}) {
            CAPTURE(name);
            CAPTURE(sample);
            const auto& algorithm = collectives::find_algorithm(Collective::alltoall, name);
            const collectives::Shape shape{p, 1, starts};
            const Schedule schedule = collectives::emit(algorithm, shape, {});
            const cost::RoundTimes exact(cost::rounds_of(schedule.ranks, 1), star, CostModel::usual(), all);
            const cost::RoundTimes found(decision::node_rounds(algorithm, shape), star, CostModel::usual(), all);
            for (const double bytes : {0.0, 1e3, 1e5})
                CHECK(found.seconds(bytes, 1, true) == Approx(exact.seconds(bytes, 1, true)).epsilon(1e-9).scale(0));
        }
    }
}

TEST_CASE("a broadcast by scatter and ring takes about as long as in the simulation, for any number of ranks") {
    const collectives::Algorithm& algorithm = collectives::find_algorithm(Collective::bcast, "scatter_allgather");
    for (const std::int32_t p : {8, 16, 64, 200}) {
        const Network star = network::build(network::star(p, {.bandwidth_bytes_per_s = 1e9, .latency_s = 1e-6}));
        std::vector<Rank> all;
        for (std::int32_t r = 0; r < p; ++r) all.emplace_back(r);
        Decider decider(star, CostModel::usual());
        for (const std::int64_t bytes : {1'000, 100'000, 10'000'000}) {
            CAPTURE(p);
            CAPTURE(bytes);
            const double simulated_s =
                simulate(lower(collectives::emit(algorithm, {p}, {}), bytes), star, {.costs = CostModel::usual()})
                    .makespan_s;
            const double factor = decider.predicted_s(PlannedSchedule(algorithm, p), all, bytes) / simulated_s;
            CHECK(factor > 0.5);
            CHECK(factor < 2);
        }
    }
}

TEST_CASE("large communicators are decided on in little time and memory, without what grows with the square") {
    const Network network = network::generate_network("fat-tree:16x16x8", {.bandwidth_bytes_per_s = 1e9});
    std::vector<Rank> members;
    for (std::int32_t r = 0; r < network.num_ranks(); ++r) members.emplace_back((r * 5) % network.num_ranks());
    Decider decider(network, CostModel::usual());
    for (const Collective collective : all_collectives) {
        CAPTURE(name_of(collective));
        const auto [schedule, time_s] =
            decider.fastest(collective, members, collective == Collective::barrier ? 0 : 64);
        CHECK(time_s > 0);
        CHECK(schedule.num_ranks() == network.num_ranks());
    }
    CHECK(decider.fastest(Collective::alltoall, members, 1).first.algorithm()->name == "bruck");
}
