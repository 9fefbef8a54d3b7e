// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using namespace hocket::examples;
using doctest::Approx;

namespace {

constexpr double tight = 1e-12;
constexpr double infinite = std::numeric_limits<double>::infinity();

Network star(std::int32_t hosts, double bandwidth) {
    return network::build(network::star(hosts, {.bandwidth_bytes_per_s = bandwidth}));
}

Program computations(std::size_t ranks, double seconds) {
    Program program = empty(ranks);
    for (auto& part : program.ranks) add(part, compute(seconds));
    return program;
}

}  // namespace

TEST_CASE("ranks that share cores take turns") {
    // Five computations of 1 s on two cores: two, two, one.
    const Program program = computations(5, 1);
    const Network network = star(5, 100);
    CHECK(simulate(program, network).makespan_s == 1);
    CHECK(simulate(program, network, {.costs = {{.cores = 2}}}).makespan_s == 3);
    CHECK(simulate(program, network, {.costs = {{.cores = 1}}}).makespan_s == 5);
    CHECK(simulate(program, network, {.costs = {{.cores = 5}}}).makespan_s == 1);
    const Timeline timeline = simulate(program, network, {.costs = {{.cores = 2}}});
    CHECK(timeline.ranks[4][0].start_s == 2);
}

TEST_CASE("work that waits for its own rank leaves the other cores to others") {
    // Rank 0 has two computations of 10 s, one after the other; rank 1 has one of 1 s, at once, on the other core.
    Program program = empty(2);
    add(program.ranks[0], compute(10));
    add(program.ranks[0], compute(10));
    add(program.ranks[1], compute(1));
    const Timeline timeline = simulate(program, star(2, 100), {.costs = {{.cores = 2}}});
    CHECK(timeline.finish_s[0] == 20);
    CHECK(timeline.finish_s[1] == 1);
    CHECK(simulate(program, star(2, 100), {.costs = {{.cores = 1}}}).finish_s[1] == 21);
}

TEST_CASE("both ends of a message copy it") {
    // 200 B at 50 B/s: 4 s before it leaves; 200 B at 100 B/s: 2 s; 4 s to receive.
    Program program = empty(2);
    message(program, 0, 1, 200);
    CHECK(simulate(program, star(2, 100), {.costs = {{.copy_bytes_per_s = 50}}}).makespan_s ==
          Approx(10).epsilon(tight));
    CHECK(simulate(program, star(2, 100),
                   {.costs = {{.send_overhead_s = 1, .receive_overhead_s = 2, .copy_bytes_per_s = 50}}})
              .makespan_s == Approx(13).epsilon(tight));
}

TEST_CASE("a rank that had to wait pays for waking up, one that is busy does not") {
    // 1 waits for two messages that arrive together after 1 s: it wakes up once (0.5 s), then receives each for 2 s.
    Program program = empty(3);
    message(program, 0, 1, 0);
    message(program, 2, 1, 0);
    const SimulationOptions options{.costs = {{.send_overhead_s = 1, .receive_overhead_s = 2, .wake_s = 0.5}}};
    CHECK(simulate(program, star(3, 100), options).makespan_s == Approx(1 + 0.5 + 2 + 2).epsilon(tight));
}

TEST_CASE("messages within a host have an overhead of their own") {
    network::Blueprint pairs;  // ranks 0 and 1 on one host, 2 and 3 on the other
    pairs.nodes = {{"a", NodeKind::host, 2}, {"b", NodeKind::host, 2}};
    pairs.cables = {{0, 1, 100, 100, 0, 0, false}};
    const Network network = network::build(pairs);
    Program within = empty(4), between = empty(4);
    message(within, 0, 1, 0);
    message(between, 1, 2, 0);
    CostParameters costs{.send_overhead_s = 10, .receive_overhead_s = 10};
    CHECK(simulate(within, network, {.costs = costs}).makespan_s == 20);
    costs.host_overhead_s = 3;
    CHECK(simulate(within, network, {.costs = costs}).makespan_s == 6);
    CHECK(simulate(between, network, {.costs = costs}).makespan_s == 20);
}

TEST_CASE("messages get their share of the links") {
    Program program = empty(2);
    message(program, 0, 1, 200);
    for (const Sharing sharing : {Sharing::none, Sharing::equal, Sharing::maxmin, Sharing::reserve})
        CHECK(simulate(program, star(2, 100), {.costs = {{.sharing = sharing, .link_efficiency = 0.8}}}).makespan_s ==
              Approx(2.5).epsilon(tight));
}

TEST_CASE("a full bucket passes at once, and fills while the link is idle") {
    // 300 B at 100 B/s with buckets of 120 B: 120 pass at once, 180 take 1.8 s. A second message of 300 B that starts
    // 0.7 s later finds 70 B in the buckets: 2.3 s more.
    Program program = empty(2);
    const auto first = add(program.ranks[0], send(1, 300));
    const auto pause = add(program.ranks[0], compute(0.7), {first});
    add(program.ranks[0], send(1, 300), {pause});
    add(program.ranks[1], recv(0, 300));
    add(program.ranks[1], recv(0, 300));
    const Network network = star(2, 100);
    CHECK(simulate(program, network).makespan_s == Approx(6.7).epsilon(tight));
    CHECK(simulate(program, network, {.costs = {{.burst_bytes = 120}}}).makespan_s ==
          Approx(1.8 + 0.7 + 2.3).epsilon(tight));
    CHECK(simulate(program, network, {.costs = {{.burst_s = 1.2}}}).makespan_s ==
          Approx(1.8 + 0.7 + 2.3).epsilon(tight));
    // A message that fits has no transfer time.
    Program small = empty(2);
    message(small, 0, 1, 120);
    CHECK(simulate(small, network, {.costs = {{.burst_bytes = 120}}}).makespan_s == 0);
}

TEST_CASE("a bucket serves a message only as far as those of all its links do") {
    // 0 and 1 send 100 B each to 2: 0 takes the 100 B of the link into 2, so 1 finds none there: 1 s.
    Program program = empty(3);
    message(program, 0, 2, 100);
    message(program, 1, 2, 100);
    const Timeline timeline = simulate(program, star(3, 100), {.costs = {{.burst_bytes = 100}}});
    CHECK(timeline.ranks[0][0].end_s == 0);
    CHECK(timeline.ranks[1][0].end_s == Approx(1).epsilon(tight));
}

TEST_CASE("a core for each rank is as no limit, and costs of nothing change nothing") {
    base::Random random(7);
    for (int i = 0; i < 50; ++i) {
        const Network network = network::build(random_tree(random, 4));
        const Program program = random_program(random, 4, 30);
        const double plain_s = simulate(program, network).makespan_s;
        const SimulationOptions same{
            .costs = {{.host_overhead_s = 0, .wake_s = 0, .copy_bytes_per_s = infinite, .link_efficiency = 1}}};
        CHECK(simulate(program, network, same).makespan_s == plain_s);
        CHECK(simulate(program, network, {.costs = {{.cores = 4}}}).makespan_s == Approx(plain_s).epsilon(tight));
    }
}
