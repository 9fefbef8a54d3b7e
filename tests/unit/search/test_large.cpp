// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <ctime>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/search/broadcast.hpp"
#include "trees.hpp"

using namespace hocket;
using namespace hocket::search;

namespace {

BroadcastResult proven(const Tree& tree, const BroadcastOptions& options = {}) {
    const std::int32_t root = 0;
    BroadcastResult result = fastest_broadcast(tree, {&root, 1}, options);
    CHECK(result.optimal);
    CHECK(faults_of(tree, {&root, 1}, result.transfers) == "");
    return result;
}
double milliseconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// Needs branching: 13 computers on three switches.
Tree uneven() {
    base::Random random(7);
    examples::TreeBuilder builder;
    std::int32_t switches[3];
    for (std::int32_t i = 0; i < 3; ++i) {
        switches[i] = builder.relay();
        if (i > 0) builder.cable(switches[i - 1], switches[i], (2 + random.below(6)) * 10'000'000);
    }
    for (int i = 0; i < 13; ++i)
        builder.cable(switches[random.below(3)], builder.computer(), (1 + random.below(10)) * 10'000'000);
    return builder.tree();
}

}  // namespace

TEST_CASE("two unequal clusters where every sender is needed all the time") {
    // 2^k - 1 nodes and the other cluster are as many as k rounds can reach: the cluster must also spread the message
    // inside, and then sends it on one of its transfers (10.1 ms) later.
    for (const auto& [nodes, rounds] : {std::pair{7, 3}, std::pair{15, 4}, std::pair{31, 5}})
        CHECK(milliseconds(proven(examples::two_clusters(nodes, examples::fast_ethernet, examples::fast_ethernet))
                               .makespan_ns) == doctest::Approx(86 * rounds + 10.1 + 2.2).epsilon(1e-4));
    CHECK(milliseconds(
              proven(examples::two_clusters(20, examples::fast_ethernet, examples::fast_ethernet)).makespan_ns) ==
          doctest::Approx(86 * 5 + 2.2).epsilon(1e-4));
}

TEST_CASE("a cluster with delays, and a large star") {
    const BroadcastResult cluster = proven(examples::dual(32, 20'000, 1'000));
    CHECK(milliseconds(cluster.makespan_ns) == doctest::Approx(5 * (10.1 + 0.042) + 2.2 + 0.002).epsilon(1e-4));
    CHECK(cluster.lower_bound_any_starts_ns == cluster.makespan_ns);
    CHECK(milliseconds(proven(examples::star(1024)).makespan_ns) == doctest::Approx(101).epsilon(1e-4));
}

TEST_CASE("24 computers without symmetry") {
    CHECK(milliseconds(proven(examples::unequal_tree(24, 2)).makespan_ns) == doctest::Approx(133.333).epsilon(1e-4));
    CHECK(milliseconds(proven(examples::unequal_tree(24, 3)).makespan_ns) == doctest::Approx(150).epsilon(1e-4));
}

TEST_CASE("any number of threads finds the same optimum") {
    const Tree tree = uneven();
    const BroadcastResult one = proven(tree);
    CHECK(one.num_nodes > 0);
    for (const std::int32_t threads : {2, 4}) {
        BroadcastOptions options;
        options.num_threads = threads;
        CHECK(proven(tree, options).makespan_ns == one.makespan_ns);
    }
}

TEST_CASE("a search that is asked to stop has a schedule and a bound") {
    const Tree tree = uneven();
    const std::int32_t root = 0;
    const auto check_stopped = [&](const BroadcastOptions& options) {
        const BroadcastResult result = fastest_broadcast(tree, {&root, 1}, options);
        CHECK(faults_of(tree, {&root, 1}, result.transfers) == "");
        CHECK(result.lower_bound_ns <= result.makespan_ns);
        CHECK(result.optimal == (result.gap() == 0));
        return result;
    };
    BroadcastOptions options;
    options.time_limit_s = 0;
    CHECK_FALSE(check_stopped(options).optimal);
    options = {};
    options.memory_limit_bytes = 1;
    options.beam_width = 0;
    CHECK(check_stopped(options).num_nodes == 1);
    options = {};
    options.gap = 10;
    CHECK(check_stopped(options).num_nodes == 0);
}

TEST_CASE("when time is up before the first schedule, one is made at once") {
    base::Random random(20'040'609);
    for (int i = 0; i < 300; ++i) {
        CAPTURE(i);
        const Tree tree = examples::random_tree(random, static_cast<std::int32_t>(2 + random.below(30)));
        const std::int32_t root = static_cast<std::int32_t>(random.below(tree.num_computers()));
        BroadcastOptions options;
        options.time_limit_s = 0;
        const BroadcastResult result = fastest_broadcast(tree, {&root, 1}, options);
        REQUIRE(faults_of(tree, {&root, 1}, result.transfers) == "");
        CHECK(result.lower_bound_ns <= result.makespan_ns);
    }
    // Bandwidths that all differ make bounds slow: a list schedule of this tree would take minutes.
    examples::TreeBuilder builder;
    std::vector<std::int32_t> switches;
    for (std::int32_t i = 0; i < 60; ++i) {
        switches.push_back(builder.relay());
        if (i > 0)
            builder.cable(switches[static_cast<std::size_t>(random.below(i))], switches.back(),
                          20'000'000 + random.below(200'000'000));
    }
    for (int i = 0; i < 800; ++i)
        builder.cable(switches[static_cast<std::size_t>(random.below(60))], builder.computer(),
                      10'000'000 + random.below(100'000'000));
    const Tree tree = builder.tree();
    const std::int32_t root = 0;
    BroadcastOptions options;
    options.time_limit_s = 0.2;
    // The processor's time, which other work on the machine does not change.
    const auto begin = std::clock();
    const auto used_s = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
    const BroadcastResult result = fastest_broadcast(tree, {&root, 1}, options);
    CHECK(faults_of(tree, {&root, 1}, result.transfers) == "");
    CHECK(used_s() < 5);
    int asked = 0;
    options.time_limit_s = 60;
    options.on_progress = [&](const BroadcastProgress&) { return ++asked < 3; };
    fastest_broadcast(tree, {&root, 1}, options);
    CHECK(used_s() < 15);
    CHECK(asked == 3);
}
