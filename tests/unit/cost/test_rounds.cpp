// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/rounds.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using cost::Rounds;
using cost::RoundTimes;
using doctest::Approx;

namespace {

Rounds rounds_of(const collectives::Algorithm& algorithm, std::int32_t p) {
    const Schedule schedule = collectives::emit(algorithm, {p}, {});
    return cost::rounds_of(schedule.ranks, schedule.segments);
}

Rounds rounds_of(Collective collective, const char* name, std::int32_t p) {
    return rounds_of(collectives::find_algorithm(collective, name), p);
}

std::vector<Rank> ranks_below(std::int32_t n) {
    std::vector<Rank> ranks;
    for (std::int32_t r = 0; r < n; ++r) ranks.emplace_back(r);
    return ranks;
}

}  // namespace

TEST_CASE("a ring is one round many times, a binomial tree a round for each level") {
    const Rounds ring = rounds_of(Collective::allgather, "ring", 5);
    REQUIRE(ring.rounds.size() == 1);
    CHECK(ring.rounds[0].times == 4);
    CHECK(ring.rounds[0].messages ==
          std::vector<Rounds::Message>{
              {0, 1, 1, false}, {1, 2, 1, false}, {2, 3, 1, false}, {3, 4, 1, false}, {4, 0, 1, false}});
    // The root sends to 4, 2 and 1 at once, then 4 to 6 and 5 and 2 to 3, then 6 to 7.
    const Rounds tree = rounds_of(Collective::bcast, "binomial", 8);
    REQUIRE(tree.rounds.size() == 3);
    CHECK(tree.rounds[0].messages.size() == 3);
    CHECK(tree.rounds[1].messages.size() == 3);
    CHECK(tree.rounds[2].messages == std::vector<Rounds::Message>{{6, 7, 1, false}});
    // A barrier's messages have no bytes, and a reduction's are combined.
    CHECK(rounds_of(Collective::barrier, "dissemination", 4).rounds[0].messages[0].blocks == 0);
    CHECK(rounds_of(Collective::reduce, "chain", 3).rounds[0].messages ==
          std::vector<Rounds::Message>{{2, 1, 1, true}});
}

TEST_CASE("all messages of every algorithm have a round, and none before one that its sender waits for") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        for (const std::int32_t p : {1, 2, 3, 6, 8, 13}) {
            CAPTURE(algorithm.name);
            CAPTURE(p);
            const Schedule schedule = collectives::emit(algorithm, {p}, {});
            std::size_t num_sends = 0;
            std::int64_t num_chunks = 0;
            for (const RankSchedule& part : schedule.ranks)
                for (const Op& op : part.ops)
                    if (op.kind == OpKind::send) {
                        ++num_sends;
                        for (const ChunkRange& range : part.chunks_of(op)) num_chunks += range.count;
                    }
            const Rounds found = rounds_of(algorithm, p);
            std::int64_t num_found = 0;
            double blocks = 0;
            for (const Rounds::Round& round : found.rounds) {
                num_found += round.times * static_cast<std::int64_t>(round.messages.size());
                for (const Rounds::Message& message : round.messages)
                    blocks += static_cast<double>(round.times) * message.blocks;
            }
            CHECK(num_found == static_cast<std::int64_t>(num_sends));
            CHECK(blocks == Approx(static_cast<double>(num_chunks) / schedule.segments));
        }
    }
}

TEST_CASE("times put together by hand") {
    // Over two cables of 1 MB/s and 1 ms a message of n bytes takes 2 ms + n us, and overheads of 3 and 4 ms.
    const Network star = network::build(network::star(4, {.bandwidth_bytes_per_s = 1e6, .latency_s = 1e-3}));
    const CostModel costs =
        CostParameters{.send_overhead_s = 3e-3, .receive_overhead_s = 4e-3, .rendezvous_bytes = 1000};
    const auto ranks = ranks_below(4);
    const RoundTimes ring(rounds_of(Collective::allgather, "ring", 4), star, costs, ranks);
    CHECK(ring.seconds(500, 1, true) == Approx(3 * (7e-3 + 2e-3 + 0.5e-3)));
    // Above the rendezvous size a round trip and its overheads more.
    CHECK(ring.seconds(1000, 1, true) == Approx(3 * (2 * (7e-3 + 2e-3) + 2e-3 + 1e-3)));
    // Four ranks in a chain: three hops of a segment, then the busiest rank passes on the other three: 7 ms each.
    const RoundTimes chain(rounds_of(Collective::bcast, "pipelined_chain", 4), star, costs, ranks);
    CHECK(chain.seconds(400, 4, true) == Approx(3 * (7e-3 + 2e-3 + 0.1e-3) + 3 * 7e-3));
    // All at once: the busiest rank pays 3 overheads of each kind, and its cable carries 3 blocks.
    const RoundTimes linear(rounds_of(Collective::alltoall, "linear", 4), star, costs, ranks);
    CHECK(linear.seconds(100, 1, true) == Approx(3 * 7e-3 + 2e-3 + 3 * 0.1e-3));
    // Pairs that exchange large messages take turns, if that is asked for.
    const RoundTimes pairs(rounds_of(Collective::allgather, "recursive_doubling", 2), star, costs, ranks);
    CHECK(pairs.seconds(2000, 1, true) - pairs.seconds(2000, 1, false) == Approx(2e-3));
    CHECK(pairs.seconds(999, 1, true) == pairs.seconds(999, 1, false));
}

TEST_CASE("on networks without congestion it is what the simulation finds") {
    const Network star = network::build(network::star(8, {.bandwidth_bytes_per_s = 1e8, .latency_s = 1e-5}));
    const CostModel costs{};
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        if (algorithm.name == "linear" || algorithm.name == "binomial") continue;  // their messages share cables
        CAPTURE(name_of(algorithm.collective));
        CAPTURE(algorithm.name);
        const std::int64_t bytes = algorithm.collective == Collective::barrier ? 0 : 1 << 16;
        const RoundTimes times(rounds_of(algorithm, 8), star, costs, ranks_below(8));
        const double simulated_s =
            simulate(lower(collectives::emit(algorithm, {8}, {}), bytes), star, {.costs = costs}).makespan_s;
        CHECK(times.seconds(static_cast<double>(bytes), 1, false) == Approx(simulated_s).epsilon(0.02));
    }
}

TEST_CASE("many may share the room for what links carry") {
    const Network star = network::build(network::star(8, {.bandwidth_bytes_per_s = 1e8, .latency_s = 1e-5}));
    cost::LinkSums room(static_cast<std::size_t>(star.num_capacities()));
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        CAPTURE(algorithm.name);
        const Rounds rounds = rounds_of(algorithm, 8);
        const RoundTimes alone(rounds, star, CostModel{}, ranks_below(8));
        CHECK(RoundTimes(rounds, star, CostModel{}, ranks_below(8), room) == alone);
    }
}

TEST_CASE("where ranks share cores their overheads follow each other") {
    const Network star = network::build(network::star(4, {.bandwidth_bytes_per_s = 1e6}));
    const auto ranks = ranks_below(4);
    const Rounds ring = rounds_of(Collective::allgather, "ring", 4);
    CostParameters costs{.send_overhead_s = 1e-3, .receive_overhead_s = 1e-3};
    CHECK(RoundTimes(ring, star, costs, ranks).seconds(0, 1, true) == Approx(3 * 2e-3));
    costs.cores = 2;  // 8 overheads in each of 3 rounds
    CHECK(RoundTimes(ring, star, costs, ranks).seconds(0, 1, true) == Approx(3 * 4e-3));
    CHECK(RoundTimes(ring, star, costs, ranks).seconds(0, 2, true) == Approx(2 * 3 * 4e-3));
    costs.cores = 8;
    CHECK(RoundTimes(ring, star, costs, ranks).seconds(0, 1, true) == Approx(3 * 2e-3));
}
