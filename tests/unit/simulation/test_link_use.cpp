// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "examples.hpp"
#include "hocket/base/random.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/patterns/patterns.hpp"
#include "hocket/simulation/simulate.hpp"
#include "hocket/simulation/traffic.hpp"

using namespace hocket;
using namespace hocket::examples;
using doctest::Approx;

namespace {

constexpr Sharing laws[] = {Sharing::none, Sharing::equal, Sharing::maxmin, Sharing::reserve};

/// Two hosts at a switch; latencies of 1 s from host 0 and of 2 s to host 1.
Network two_hosts(double first_bandwidth, double second_bandwidth, bool with_latencies) {
    network::Blueprint blueprint;
    blueprint.name = "two hosts";
    blueprint.nodes = {{"h0", NodeKind::host, 1}, {"h1", NodeKind::host, 1}, {"s", NodeKind::switch_, 0}};
    const double first_s = with_latencies ? 1 : 0, second_s = with_latencies ? 2 : 0;
    blueprint.cables = {{0, 2, first_bandwidth, first_bandwidth, first_s, first_s, false},
                        {1, 2, second_bandwidth, second_bandwidth, second_s, second_s, false}};
    return network::build(blueprint);
}

Program one_message(std::int64_t bytes) {
    Program program = empty(2);
    message(program, 0, 1, bytes);
    return program;
}

double bytes_in(const LinkBins& bins, std::size_t bin, LinkId link) {
    return bins.bytes[bin * static_cast<std::size_t>(bins.num_rows) + link.at()];
}

double bytes_in(const LinkBins& bins, LinkId link) {
    double sum = 0;
    for (std::int32_t b = 0; b < bins.num_bins; ++b) sum += bytes_in(bins, static_cast<std::size_t>(b), link);
    return sum;
}

double bytes_in(const Timeline& timeline, LinkId link) {
    double sum = 0;
    for (const auto& use : timeline.link_use[link.at()]) sum += (use.end_s - use.start_s) * use.rate_bytes_per_s;
    for (const auto& burst : timeline.link_bursts[link.at()]) sum += burst.bytes;
    return sum;
}

}  // namespace

TEST_CASE("what passes out of buckets is in the bin of the moment when the message starts") {
    // 300 B at 100 B/s, buckets of 120 B: 120 B at 0, then 180 B in 1.8 s. The second message starts 0.7 s later: the
    // buckets hold 70 B, which pass at 2.5 s; 230 B take the 2.3 s until 4.8 s. The first rate ends at 1.8 s, of which
    // four bins are
    // 0.45 s each; they double until they reach 4.8 s: bins of 1.8 s.
    Program program = empty(2);
    const auto first = add(program.ranks[0], send(1, 300));
    const auto pause = add(program.ranks[0], compute(0.7), {first});
    add(program.ranks[0], send(1, 300), {pause});
    add(program.ranks[1], recv(0, 300));
    add(program.ranks[1], recv(0, 300));
    for (const Sharing sharing : laws) {
        const Network network = two_hosts(100, 100, false);
        const Timeline timeline = simulate(
            program, network,
            {.costs = {{.sharing = sharing, .burst_bytes = 120}}, .record_links = true, .link_bins = {.num_bins = 4}});
        for (const LinkId l : network.route(Rank{0}, Rank{1})) {
            const auto& bursts = timeline.link_bursts[l.at()];
            REQUIRE(bursts.size() == 2);
            CHECK(bursts[0].time_s == 0);
            CHECK(bursts[0].bytes == 120);
            CHECK(bursts[1].time_s == Approx(2.5));
            CHECK(bursts[1].bytes == Approx(70));
            CHECK(bytes_in(timeline, l) == Approx(600));
            REQUIRE(timeline.link_bins.bin_s == Approx(1.8));
            REQUIRE(timeline.link_bins.num_bins == 3);
            CHECK(bytes_in(timeline.link_bins, 0, l) == Approx(120 + 180));
            CHECK(bytes_in(timeline.link_bins, 1, l) == Approx(70 + 110));  // of 1.8 to 3.6 s, from 2.5 s on
            CHECK(bytes_in(timeline.link_bins, 2, l) == Approx(120));
        }
        for (const LinkId l : network.route(Rank{1}, Rank{0})) CHECK(bytes_in(timeline, l) == 0);
    }
}

TEST_CASE("reserved windows: a burst passes a link the latencies up to it later") {
    // 100 B out of the buckets, and 100 B at 50 B/s: from 1 to 3 s on the first link, from 3 to 5 s on the second.
    const Network network = two_hosts(50, 50, true);
    const auto route = network.route(Rank{0}, Rank{1});
    const SimulationOptions options{.costs = {{.sharing = Sharing::reserve, .burst_bytes = 100}},
                                    .record_links = true,
                                    .link_bins = {.num_bins = 6}};
    const Timeline timeline = simulate(one_message(200), network, options);
    REQUIRE(timeline.link_bins.num_bins > 0);
    for (std::size_t i = 0; i < 2; ++i) {
        const double from_s = i == 0 ? 1 : 3;
        REQUIRE(timeline.link_bursts[route[i].at()].size() == 1);
        CHECK(timeline.link_bursts[route[i].at()][0].time_s == from_s);
        CHECK(timeline.link_bursts[route[i].at()][0].bytes == 100);
        REQUIRE(timeline.link_use[route[i].at()].size() == 1);
        CHECK(timeline.link_use[route[i].at()][0].start_s == Approx(from_s));
        CHECK(timeline.link_use[route[i].at()][0].end_s == Approx(from_s + 2));
        CHECK(bytes_in(timeline.link_bins, route[i]) == Approx(200));
    }
}

TEST_CASE("links without a limit carry their bytes in one moment") {
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    const Network network = two_hosts(unlimited, unlimited, true);
    for (const Sharing sharing : laws) {
        const Timeline timeline =
            simulate(one_message(200), network,
                     {.costs = {{.sharing = sharing}}, .record_links = true, .link_bins = {.num_bins = 4}});
        for (const LinkId l : network.route(Rank{0}, Rank{1})) {
            CHECK(bytes_in(timeline.link_bins, l) == 200);
            CHECK(bytes_in(timeline, l) == 200);
        }
        const auto pattern = patterns::shift(2, 1, 3, {.bytes = 200});
        TrafficOptions options;
        options.sharing = sharing;
        options.link_bins.num_bins = 4;
        const TrafficResult result = simulate_traffic(*pattern, *network::make_fabric(network), options);
        for (const LinkId l : network.route(Rank{0}, Rank{1})) CHECK(bytes_in(result.link_bins, l) == 600);
    }
}

TEST_CASE("every byte that crosses a link is in its bins, and beside its rates, whatever messages cost") {
    base::Random random(11);
    for (int i = 0; i < 80; ++i) {
        CAPTURE(i);
        const Network network = network::build(random_tree(random, 6));
        const Program program = random_program(random, network.num_ranks(), 60);
        CostParameters costs{.sharing = laws[i % 4]};
        costs.link_efficiency = i % 3 == 0 ? 0.8 : 1;
        costs.send_overhead_s = i % 2 == 0 ? 0.1 : 0;
        if (i % 5 < 3) costs.burst_bytes = static_cast<double>(1 + random.below(200));
        if (i % 5 == 2) costs.burst_s = 0.5;
        const Timeline timeline =
            simulate(program, network, {.costs = costs, .record_links = true, .link_bins = {.num_bins = 8}});
        double all = 0;
        for (std::size_t l = 0; l < network.links().size(); ++l) {
            const LinkId link{static_cast<std::int32_t>(l)};
            CHECK(bytes_in(timeline.link_bins, link) == Approx(timeline.link_bytes[l]).epsilon(1e-9));
            CHECK(bytes_in(timeline, link) == Approx(timeline.link_bytes[l]).epsilon(1e-9));
            all += timeline.link_bytes[l];
        }
        CHECK(all > 0);
    }
}
