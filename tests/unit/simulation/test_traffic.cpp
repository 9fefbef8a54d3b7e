// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/patterns/patterns.hpp"
#include "hocket/simulation/traffic.hpp"

using namespace hocket;
using namespace hocket::patterns;

namespace {

constexpr Sharing all_sharings[] = {Sharing::none, Sharing::equal, Sharing::maxmin};

double relative(double a, double b) { return std::abs(a - b) / std::max(std::abs(b), 1e-300); }

/// When the last byte of each source has arrived.
std::vector<double> finish_times(const Traffic& traffic, const Program& program, const Timeline& timeline) {
    std::vector<double> finish_s(static_cast<std::size_t>(traffic.num_sources()), 0);
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        for (std::size_t i = 0; i < program.ranks[r].ops.size(); ++i) {
            const ProgramOp& op = program.ranks[r].ops[i];
            if (op.kind != ProgramOpKind::recv) continue;
            double& finish = finish_s[op.peer.at()];
            finish = std::max(finish, timeline.ranks[r][i].end_s);
        }
    return finish_s;
}

void check_against_program(const Traffic& traffic, const Network& network, bool all_at_once = false) {
    const auto fabric = network::make_fabric(network);
    const Program program = program_of(traffic, all_at_once);
    for (const Sharing sharing : all_sharings) {
        CAPTURE(static_cast<int>(sharing));
        TrafficOptions options;
        options.sharing = sharing;
        options.record_links = true;
        if (all_at_once)
            for (std::int32_t s = 0; s < traffic.num_sources(); ++s)
                options.in_flight =
                    std::max(options.in_flight, static_cast<std::int32_t>(traffic.num_messages(Rank{s})));
        const TrafficResult result = simulate_traffic(traffic, *fabric, options);
        for (const bool reference : {true, false}) {
            SimulationOptions program_options;
            program_options.sharing = sharing;
            program_options.ordered_pairs = false;
            program_options.reference = reference;
            const Timeline timeline = simulate(program, network, program_options);
            const std::vector<double> expected = finish_times(traffic, program, timeline);
            CHECK(relative(result.makespan_s, timeline.makespan_s) < 1e-9);
            double worst = 0, sum_s = 0, senders = 0;
            for (std::size_t s = 0; s < expected.size(); ++s) {
                worst = std::max(worst, relative(result.finish_s[s], expected[s]));
                sum_s += expected[s];
                senders += traffic.num_messages(Rank{static_cast<std::int32_t>(s)}) > 0;
            }
            CHECK(worst < 1e-9);
            CHECK(relative(result.mean_finish_s, sum_s / senders) < 1e-9);
            double worst_bytes = 0;
            for (std::size_t l = 0; l < result.link_bytes.size(); ++l)
                worst_bytes = std::max(worst_bytes, std::abs(result.link_bytes[l] - timeline.link_bytes[l]));
            CHECK(worst_bytes < 1e-6);
        }
        options.record_links = false;  // takes the short way for messages on the same route
        CHECK(relative(simulate_traffic(traffic, *fabric, options).mean_finish_s, result.mean_finish_s) < 1e-9);
    }
}

Network network_of(const std::string& what) {
    network::GenerateOptions options;
    options.bandwidth_bytes_per_s = 1e6;
    return network::build(network::generate(what, options));
}

}  // namespace

TEST_CASE("patterns on a fat tree take as long as their programs") {
    const Network network = network_of("fat-tree:3x2x4");
    const std::int32_t n = network.num_ranks();
    for (const double spread : {0.0, 0.5}) {
        CAPTURE(spread);
        const MessageSizes sizes{1'000'000, spread, 7};
        check_against_program(*random_ring(n, 10, sizes, 3), network);
        check_against_program(*random_permutation(n, 10, sizes, 4), network);
        check_against_program(*random_permutation(n, 4, sizes, 5), network, true);
        check_against_program(*shift(n, 5, 3, sizes), network);
        check_against_program(*all_to_all(n, 1, sizes), network);
        check_against_program(*incast(n, Rank{2}, 3, sizes), network);
        check_against_program(*nearest_neighbour({2, 3, 4}, true, 2, sizes), network, true);
    }
}

TEST_CASE("traffic from random matrices on random trees, with latencies and half duplex") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network =
            network::build(examples::random_tree(random, 3 + static_cast<std::int32_t>(random.below(20))));
        const std::int32_t n = network.num_ranks();
        std::vector<std::int64_t> bytes;
        for (std::int32_t i = 0; i < n * n; ++i) bytes.push_back(random.below(3) == 0 ? random.below(1000) : 0);
        bytes[1] = 1;
        check_against_program(*from_matrix(n, bytes), network);
        check_against_program(*from_matrix(n, bytes), network, true);
    }
}

TEST_CASE("a fat tree by arithmetic has the links of the one with tables") {
    const Network network = network_of("fat-tree:3x2x4");
    const auto fabric = network::make_fabric("fat-tree:3x2x4", {});
    std::vector<LinkId> route;
    for (std::int32_t a = 0; a < 24; ++a)
        for (std::int32_t b = 0; b < 24; ++b) {
            fabric->route(Rank{a}, Rank{b}, route);
            CHECK(route == network.route(Rank{a}, Rank{b}));
        }
}

TEST_CASE("a source keeps as many messages on the way as it may") {
    const Network network = network_of("star:4");
    const auto fabric = network::make_fabric(network);
    // Rank 0 has 1, 3 and 2 MB for others and 1 MB/s. Two at a time: 1 MB and 3 MB until 2 s, the third is next; after
    // 4 s more the 2 MB have left together with the 3 MB. All ends at 6 s.
    const std::vector<std::int64_t> bytes{0, 1'000'000, 3'000'000, 2'000'000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    TrafficOptions options;
    for (options.in_flight = 1; options.in_flight <= 4; ++options.in_flight) {
        const TrafficResult result = simulate_traffic(*from_matrix(4, bytes), *fabric, options);
        CHECK(result.makespan_s == doctest::Approx(6));
        CHECK(result.num_messages == 3);
    }
    // Two sources share the cable of rank 1.
    const std::vector<std::int64_t> both{0, 2'000'000, 0, 0, 0, 0, 0, 0, 0, 2'000'000, 0, 0, 0, 0, 0, 0};
    const TrafficResult result = simulate_traffic(*from_matrix(4, both), *fabric);
    CHECK(result.finish_s[0] == doctest::Approx(4));
    CHECK(result.finish_s[2] == doctest::Approx(4));
    const auto twice = shift(4, 1, 2, {1'000'000, 0, 1});
    options.in_flight = 2;
    CHECK(simulate_traffic(*twice, *fabric, options).mean_finish_s == doctest::Approx(2));
}

TEST_CASE("traffic that does not fit is refused") {
    const auto fabric = network::make_fabric("fat-tree:2x2x4", {});
    CHECK_THROWS_AS(simulate_traffic(*random_ring(17, 1, {}), *fabric), InvalidInput);
    TrafficOptions options;
    options.in_flight = 0;
    CHECK_THROWS_AS(simulate_traffic(*random_ring(16, 1, {}), *fabric, options), InvalidInput);
    CHECK(simulate_traffic(*random_ring(1, 5, {}), *fabric).makespan_s == 0);
    CHECK(simulate_traffic(*random_ring(8, 5, {0, 0, 1}), *fabric).makespan_s == 0);
}
