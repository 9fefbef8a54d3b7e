// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <string>

#include "hocket/base/error.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/hockney.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using cost::hockney_s;
using doctest::Approx;

namespace {

double simulated_s(const collectives::Algorithm& algorithm, std::int32_t p, std::int64_t bytes, std::int32_t segments,
                   double latency_s, Sharing sharing) {
    // One latency a message: half on each of the two links of a star.
    const Network network =
        network::build(network::star(p, {.bandwidth_bytes_per_s = 1e6, .latency_s = latency_s / 2}));
    return simulate(lower(collectives::emit(algorithm, {p, segments}, {}), bytes), network,
                    {.costs = {{.sharing = sharing}}})
        .makespan_s;
}

}  // namespace

TEST_CASE("the forms of [Thakur05], with numbers put in") {
    // p = 8, n = 800 bytes at 100 bytes/s, latency 1 s: n beta = 8 s.
    const auto time = [](Collective collective, const char* algorithm, std::int32_t segments = 1) {
        return hockney_s(collective, algorithm, 8, 800, 1, 100, segments);
    };
    CHECK(time(Collective::bcast, "linear") == 7 * (1 + 8));
    CHECK(time(Collective::bcast, "binomial") == 3 * (1 + 8));
    CHECK(time(Collective::bcast, "pipelined_chain", 4) == (8 - 2 + 4) * (1 + 2));
    // 0 to 1 and 4, 1 to 2 and 3, 4 to 5 and 6, 6 to 7: the last has four turns before it, and a segment two more.
    CHECK(time(Collective::bcast, "binary_tree") == 5 * (1 + 8));
    CHECK(time(Collective::reduce, "binary_tree", 4) == (5 + 3 * 2) * (1 + 2));
    CHECK(time(Collective::bcast, "scatter_allgather") == 3 + 7 + 2 * 7);  // (log p + p-1) a + 2 (p-1)/p n b
    CHECK(time(Collective::allreduce, "recursive_doubling") == 3 * (1 + 8));
    CHECK(time(Collective::allreduce, "rabenseifner") == 2 * 3 + 2 * 7);  // 2 log p a + 2 (p-1)/p n b
    CHECK(time(Collective::allreduce, "ring") == 14 * (1 + 1));
    CHECK(time(Collective::allgather, "bruck") == 3 + 7 * 8);  // log p a + (p-1) n b
    CHECK(time(Collective::alltoall, "pairwise") == 7 * (1 + 8));
    CHECK(time(Collective::alltoall, "bruck") == 3 + 3 * 4 * 8);  // log p a + (n p/2) log p b
    CHECK(time(Collective::reduce_scatter_block, "recursive_halving") == 3 + 7 * 8);
    CHECK(time(Collective::scatter, "binomial") == 3 + 7 * 8);
    CHECK(time(Collective::barrier, "dissemination") == 3);
    CHECK(hockney_s(Collective::allgather, "bruck", 5, 100, 1, 100) == 3 + 4);
    // 64 ranks in three digits to the base 4, or two to the base 8; 100 in four, of which the highest is 0 or 1.
    CHECK(hockney_s(Collective::bcast, "knomial_4", 64, 100, 1, 100) == 3 * 3 * (1 + 1));
    CHECK(hockney_s(Collective::reduce, "knomial_8", 64, 100, 1, 100, 2) == 2 * 7 * 2 * (1 + 0.5));
    CHECK(hockney_s(Collective::barrier, "dissemination_4", 100, 0, 1, 100) == 3 * 3 + 1);
    CHECK(hockney_s(Collective::allgather, "bruck_4", 100, 100, 1, 100) == 3 * 3 + 1 + 99);
    // Distances 1 to 5 to the base 4: 1 and 5, 2, 3 by the lower digit, 4 and 5 by the higher.
    CHECK(hockney_s(Collective::alltoall, "bruck_4", 6, 100, 1, 100) == 4 + 2 + 1 + 1 + 2);
    CHECK(hockney_s(Collective::alltoall, "bruck", 3, 100, 1, 100) ==
          1 + 1 + 1 + 1);  // distances 1 and 2: a message each
}

TEST_CASE("every algorithm has a form, which is 0 for one rank") {
    for (const auto& algorithm : collectives::all_algorithms()) {
        CAPTURE(algorithm.name);
        CHECK(hockney_s(algorithm.collective, algorithm.name, 1, 100, 1, 1) == 0);
        CHECK(hockney_s(algorithm.collective, algorithm.name, 7, 100, 1, 1) > 0);
    }
}

TEST_CASE("where ranks send and receive one message at a time, the simulation agrees, for every number of ranks") {
    struct Case {
        Collective collective;
        const char* algorithm;
    };
    const Case any_ranks[] = {
        {Collective::bcast, "chain"},
        {Collective::reduce, "chain"},
        {Collective::bcast, "pipelined_chain"},
        {Collective::allgather, "ring"},
        {Collective::allgather, "bruck"},
        {Collective::allgather, "neighbor_exchange"},
        {Collective::alltoall, "pairwise"},
        {Collective::alltoall, "bruck"},
        {Collective::reduce_scatter_block, "ring"},
        {Collective::allreduce, "ring"},
        {Collective::reduce, "pipelined_chain"},
        {Collective::barrier, "dissemination"},
    };
    for (const Case& c : any_ranks)
        for (const std::int32_t p : {2, 3, 4, 5, 6, 7, 8, 13}) {
            CAPTURE(c.algorithm);
            CAPTURE(p);
            const auto& algorithm = collectives::find_algorithm(c.collective, c.algorithm);
            const std::int64_t bytes = 8 * 3 * 5 * 7 * 13 * 10;  // cuts evenly
            CHECK(simulated_s(algorithm, p, bytes, 1, 1e-3, Sharing::none) ==
                  Approx(hockney_s(c.collective, c.algorithm, p, bytes, 1e-3, 1e6)).epsilon(1e-12));
        }
}

TEST_CASE("for powers of two the logarithmic algorithms agree as well") {
    for (const auto& algorithm : collectives::all_algorithms()) {
        // Linear algorithms send everything at once: another test. Van de Geijn's here leaves out what the scatter
        // brought.
        if (algorithm.name == "linear" || algorithm.name.starts_with("scatter_")) continue;
        if (algorithm.name == "node_aware" || algorithm.name == "by_dimension") continue;  // linear among nodes
        if (algorithm.name.ends_with("ary_tree"))
            continue;  // children are served at once here, and in turn by the form
        if (algorithm.name.ends_with("_4") || algorithm.name.ends_with("_8")) continue;  // so are partners of a step
        for (const std::int32_t p : {2, 4, 8, 16, 32}) {
            CAPTURE(algorithm.name);
            CAPTURE(name_of(algorithm.collective));
            CAPTURE(p);
            CHECK(simulated_s(algorithm, p, 32000, 1, 1e-3, Sharing::none) ==
                  Approx(hockney_s(algorithm.collective, algorithm.name, p, 32000, 1e-3, 1e6)).epsilon(1e-12));
        }
    }
}

TEST_CASE("without latency, sharing the root's link takes as long as taking turns on it") {
    for (const auto& algorithm : collectives::all_algorithms()) {
        if (algorithm.name != "linear") continue;
        for (const std::int32_t p : {2, 3, 8, 13}) {
            CAPTURE(name_of(algorithm.collective));
            CAPTURE(p);
            for (const Sharing sharing : {Sharing::equal, Sharing::maxmin})
                CHECK(simulated_s(algorithm, p, 1000, 1, 0, sharing) ==
                      Approx(hockney_s(algorithm.collective, "linear", p, 1000, 0, 1e6)).epsilon(1e-9));
        }
    }
}

TEST_CASE("without latency, pipelines agree for any number of segments") {
    for (const auto collective : {Collective::bcast, Collective::reduce})
        for (const std::int32_t segments : {1, 2, 5, 10}) {
            CAPTURE(segments);
            const auto& algorithm = collectives::find_algorithm(collective, "pipelined_chain");
            for (const std::int32_t p : {2, 3, 8})
                CHECK(simulated_s(algorithm, p, 1000, segments, 0, Sharing::maxmin) ==
                      Approx(hockney_s(collective, "pipelined_chain", p, 1000, 0, 1e6, segments)).epsilon(1e-9));
        }
}

TEST_CASE("unknown algorithms and values out of range are refused") {
    CHECK_THROWS_WITH_AS(hockney_s(Collective::bcast, "binomal", 8, 1, 1, 1),
                         "no closed form for the algorithm \"binomal\" of bcast; accepted: \"linear\", \"binomial\", "
                         "\"binomial_in_turn\", \"knomial_4\", \"knomial_8\", \"bine\", \"chain\", "
                         "\"pipelined_chain\", \"binary_tree\", "
                         "\"ternary_tree\", \"scatter_allgather\", "
                         "\"scatter_recursive_doubling\"",
                         InvalidInput);
    CHECK_THROWS_AS(hockney_s(Collective::bcast, "linear", 0, 1, 1, 1), InvalidInput);
    CHECK_THROWS_AS(hockney_s(Collective::bcast, "linear", 8, -1, 1, 1), InvalidInput);
    CHECK_THROWS_AS(hockney_s(Collective::bcast, "linear", 8, 1, -1, 1), InvalidInput);
    CHECK_THROWS_AS(hockney_s(Collective::bcast, "linear", 8, 1, 1, 0), InvalidInput);
    CHECK_THROWS_AS(hockney_s(Collective::bcast, "linear", 8, 1, 1, 1, 0), InvalidInput);
}
