// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/decision/decider.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/placement.hpp"

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

TEST_CASE("an algorithm whose rounds fit the order of ranks needs no other") {
    const Network network = two_groups();
    Decider decider(network, CostModel::usual());
    const auto members = ranks({0, 4, 1, 5, 2, 6, 3, 7});
    const PlanEntry& large = decider.entries(Collective::allgather, members).back();
    // Only neighbours in the order are in different groups. Bruck's algorithm sends them one block, in its first round:
    // 4 each way over the slow cable, the least possible. The ring sends 4 in each of 7 rounds.
    CHECK(large.schedule.algorithm()->name == "bruck");
    CHECK(large.schedule.order().empty());
    const std::int64_t bytes = 10'000'000;
    // 4 blocks take 4 s there, and on the hosts' own cables 2 blocks 0.2 s and 4 blocks, exchanged in turns, 0.8 s.
    CHECK(decider.predicted_s(large.schedule, members, bytes) == Approx(5).epsilon(0.01));
    CHECK(decider.native_s(Collective::allgather, members, bytes) == Approx(28).epsilon(0.01));
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

TEST_CASE("members that are not there are refused") {
    const Network network = two_groups();
    Decider decider(network, CostModel::usual());
    CHECK_THROWS_AS(decider.entries(Collective::bcast, {}), InvalidInput);
    CHECK_THROWS_AS(decider.entries(Collective::bcast, ranks({0, 8})), InvalidInput);
    CHECK_THROWS_AS(decider.entries(Collective::bcast, ranks({0, 0})), InvalidInput);
}

TEST_CASE("large communicators are decided on in little time and memory, without what grows with the square") {
    const Network network = network::generate_network("fat-tree:16x16x8", {.bandwidth_bytes_per_s = 1e9});
    std::vector<Rank> members;
    for (std::int32_t r = 0; r < network.num_ranks(); ++r) members.emplace_back((r * 5) % network.num_ranks());
    Decider decider(network, CostModel::usual());
    CHECK(decider.entries(Collective::alltoall, members).empty());
    for (const PlanEntry& entry : decider.entries(Collective::bcast, members))
        CHECK(entry.schedule.algorithm()->least_messages(network.num_ranks()) <= decision::most_messages);
}
