// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "../simulation/examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/wire_limit.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using cost::wire_limit_s;
using doctest::Approx;

namespace {

std::vector<Rank> all_ranks(const Network& network) {
    std::vector<Rank> ranks;
    for (std::int32_t r = 0; r < network.num_ranks(); ++r) ranks.emplace_back(r);
    return ranks;
}

/// The program of a communicator whose rank i is the network's rank members[i].
Program placed(const Program& program, const std::vector<Rank>& members, std::int32_t num_ranks) {
    Program result = examples::empty(static_cast<std::size_t>(num_ranks));
    for (std::size_t i = 0; i < members.size(); ++i) {
        RankProgram part = program.ranks[i];
        for (ProgramOp& op : part.ops)
            if (op.peer.valid()) op.peer = members[op.peer.at()];
        result.ranks[members[i].at()] = std::move(part);
    }
    return result;
}

/// A random network with cycles: a ring of hosts with chords.
Network random_mesh(base::Random& random) {
    network::Blueprint blueprint;
    blueprint.name = "mesh";
    const auto hosts = static_cast<std::int32_t>(4 + random.below(5));
    for (std::int32_t i = 0; i < hosts; ++i) {
        blueprint.nodes.push_back(
            {"h" + std::to_string(i), NodeKind::host, static_cast<std::int32_t>(1 + random.below(2))});
        blueprint.cables.push_back({i, (i + 1) % hosts, 100 + random.uniform() * 900, 100 + random.uniform() * 900,
                                    random.uniform() * 0.1, random.uniform() * 0.1});
    }
    blueprint.cables.push_back({0, 2, 500, 500, 0.01, 0.01, true});
    return network::build(blueprint);
}

/// Simulates every algorithm on the network with random members, root, order, size and segments, under both models that
/// share, and checks that none is faster than the limit. Returns how many came within 1 %.
int check_never_faster(const Network& network, base::Random& random) {
    int tight = 0;
    for (const auto& algorithm : collectives::all_algorithms()) {
        std::vector<Rank> members = all_ranks(network);
        for (std::size_t i = members.size(); i > 1; --i)
            std::swap(members[i - 1], members[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
        members.resize(1 + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(members.size()))));
        const auto p = static_cast<std::int32_t>(members.size());
        const bool rooted = algorithm.collective == Collective::bcast || algorithm.collective == Collective::reduce ||
                            algorithm.collective == Collective::scatter || algorithm.collective == Collective::gather;
        const Rank root{rooted ? static_cast<std::int32_t>(random.below(p)) : 0};
        const std::int64_t bytes = random.below(2000);
        const std::int32_t segments = algorithm.pipelines ? static_cast<std::int32_t>(1 + random.below(20)) : 1;
        const Program program =
            placed(lower(collectives::emit(algorithm, {p, segments}, {root, {}}), bytes), members, network.num_ranks());
        const cost::Bursts bursts{random.below(2) == 0 ? 0 : random.uniform() * 500,
                                  random.below(2) == 0 ? 0 : random.uniform()};
        const double limit_s = wire_limit_s(algorithm.collective, network, members, bytes, root, bursts);
        for (const Sharing sharing : {Sharing::equal, Sharing::maxmin}) {
            CAPTURE(algorithm.name);
            CAPTURE(name_of(algorithm.collective));
            CAPTURE(p);
            const double time_s =
                simulate(program, network,
                         {.costs = {{.sharing = sharing, .burst_bytes = bursts.bytes, .burst_s = bursts.seconds}},
                          .ordered_pairs = random.below(2) == 0})
                    .makespan_s;
            CHECK(time_s >= limit_s * (1 - 1e-9));
            if (p > 1 && time_s <= limit_s * 1.01) ++tight;
        }
    }
    return tight;
}

}  // namespace

TEST_CASE("the two groups of the demo") {
    // 93 and 790 Mbit/s, joined by 93 Mbit/s, 10^6 bytes: whoever the root is, the message crosses the trunk or a slow
    // link: 8e6 / 93e6 s. Latencies of 20 us a link: a message over the trunk passes 3 links after the last byte has
    // left.
    const Network n = network::build(network::two_clusters(4, 4,
                                                           {.bandwidth_bytes_per_s = 93e6 / 8,
                                                            .latency_s = 20e-6,
                                                            .second_bandwidth_bytes_per_s = 790e6 / 8,
                                                            .trunk_bandwidth_bytes_per_s = 93e6 / 8}));
    const std::vector<Rank> all = all_ranks(n);
    for (const std::int32_t root : {0, 5}) {
        const double limit_s = wire_limit_s(Collective::bcast, n, all, 1000000, Rank{root});
        CHECK(limit_s == Approx(8e6 / 93e6 + (root == 0 ? 60e-6 : 60e-6)).epsilon(1e-6));
        CHECK(wire_limit_s(Collective::reduce, n, all, 1000000, Rank{root}) == Approx(limit_s).epsilon(1e-9));
    }
    // Alltoall: 4 * 4 blocks each way over the trunk; allgather: 7 blocks into each slow host.
    CHECK(wire_limit_s(Collective::alltoall, n, all, 1000000) == Approx(16 * 8e6 / 93e6).epsilon(1e-3));
    CHECK(wire_limit_s(Collective::allgather, n, all, 1000000) == Approx(7 * 8e6 / 93e6).epsilon(1e-3));
    // Allreduce: five parts meet at the slow switch, so 8 n bytes pass their five links of 93 Mbit/s.
    CHECK(wire_limit_s(Collective::allreduce, n, all, 1000000) == Approx(8.0 / 5 * 8e6 / 93e6).epsilon(1e-3));
    CHECK(wire_limit_s(Collective::barrier, n, all, 0) == Approx(60e-6));
    // The fast group alone does not meet a slow link.
    const std::vector<Rank> fast(all.begin() + 4, all.end());
    CHECK(wire_limit_s(Collective::bcast, n, fast, 1000000) == Approx(8e6 / 790e6 + 40e-6));
    CHECK(wire_limit_s(Collective::scatter, n, fast, 1000000) == Approx(3 * 8e6 / 790e6 + 40e-6));
}

TEST_CASE("what links pass at once comes off") {
    // 100 B/s and 40 B at once: a message of 300 B takes 2.6 s out of its host, one of 30 B none. With 0.7 s at the
    // bandwidth the bucket has 70 B. Into each of the 3 hosts of an allgather come 2 blocks: (600 - 40) / 100 s. A host
    // that sends and receives over one half-duplex cable has one bucket for both: an allgather's 3 blocks take (900 -
    // 40) / 100 s.
    const auto star = [](bool half_duplex) {
        network::Blueprint blueprint = network::star(3, {.bandwidth_bytes_per_s = 100});
        for (auto& cable : blueprint.cables) cable.half_duplex = half_duplex;
        return network::build(blueprint);
    };
    const Network full = star(false), half = star(true);
    const std::vector<Rank> all = all_ranks(full);
    const auto limit_s = [&](const Network& n, Collective collective, std::int64_t bytes, cost::Bursts bursts) {
        return wire_limit_s(collective, n, all, bytes, Rank{0}, bursts);
    };
    CHECK(limit_s(full, Collective::bcast, 300, {40, 0}) == Approx(2.6));
    CHECK(limit_s(full, Collective::bcast, 300, {40, 0.7}) == Approx(2.3));
    CHECK(limit_s(full, Collective::bcast, 30, {40, 0}) == 0);
    CHECK(limit_s(full, Collective::allgather, 300, {40, 0}) == Approx(5.6));
    CHECK(limit_s(half, Collective::allgather, 300, {40, 0}) == Approx(8.6));
    CHECK_THROWS_AS(limit_s(full, Collective::bcast, 300, {-1, 0}), InvalidInput);
}

TEST_CASE("nothing to move takes no time") {
    const Network n = network::build(network::star(4, {.latency_s = 1}));
    const std::vector<Rank> all = all_ranks(n);
    CHECK(wire_limit_s(Collective::bcast, n, all, 0) == 0);
    CHECK(wire_limit_s(Collective::bcast, n, std::vector{Rank{2}}, 100) == 0);
    CHECK(wire_limit_s(Collective::barrier, n, std::vector{Rank{2}}, 0) == 0);
    CHECK(wire_limit_s(Collective::barrier, n, all, 0) == 2);
}

TEST_CASE("no schedule is faster than the limit, on random trees") {
    int tight = 0;
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        tight += check_never_faster(
            network::build(examples::random_tree(random, 2 + static_cast<std::int32_t>(random.below(7)))), random);
    }
    CHECK(tight > 100);  // and the limit is not vacuous
}

TEST_CASE("no schedule is faster than the limit, on networks with cycles") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        check_never_faster(random_mesh(random), random);
        check_never_faster(
            network::build(network::generate("fat-tree:2x2x2", {.bandwidth_bytes_per_s = 100, .latency_s = 0.01})),
            random);
    }
}

TEST_CASE("members, root and bytes are checked") {
    const Network n = network::build(network::star(4, {}));
    const std::vector<Rank> all = all_ranks(n);
    CHECK_THROWS_AS(wire_limit_s(Collective::bcast, n, {}, 1), InvalidInput);
    CHECK_THROWS_AS(wire_limit_s(Collective::bcast, n, all, -1), InvalidInput);
    CHECK_THROWS_AS(wire_limit_s(Collective::bcast, n, all, 1, Rank{4}), InvalidInput);
    CHECK_THROWS_AS(wire_limit_s(Collective::bcast, n, std::vector{Rank{4}}, 1), InvalidInput);
    CHECK_THROWS_AS(wire_limit_s(Collective::bcast, n, std::vector{Rank{1}, Rank{1}}, 1), InvalidInput);
}
