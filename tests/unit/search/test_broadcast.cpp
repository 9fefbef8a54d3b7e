// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "hocket/search/bound.hpp"
#include "hocket/search/broadcast.hpp"
#include "hocket/search/canonical.hpp"
#include "hocket/search/cut_subtree.hpp"
#include "trees.hpp"

using namespace hocket;
using namespace hocket::search;

namespace {

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

double optimum_ms(const Tree& tree) {
    const std::int32_t root = 0;
    const BroadcastResult result = fastest_broadcast(tree, {&root, 1});
    CHECK(result.optimal);
    CHECK(faults_of(tree, {&root, 1}, result.transfers) == "");
    CHECK(result.transfers.size() == static_cast<std::size_t>(tree.num_computers()) - 1);
    return milliseconds(result.makespan_ns);
}

}  // namespace

TEST_CASE("the optima of the published trees") {
    // [Hourai], calibrated: what LAM/MPI needed for 1 MB is within 4 % of these.
    CHECK(optimum_ms(examples::dual(2)) == doctest::Approx(12.3).epsilon(1e-4));
    CHECK(optimum_ms(examples::dual(3)) == doctest::Approx(22.4).epsilon(1e-4));
    CHECK(optimum_ms(examples::dual(4)) == doctest::Approx(22.4).epsilon(1e-4));
    using examples::fast_ethernet, examples::gigabit, examples::two_clusters;
    CHECK(optimum_ms(two_clusters(2, gigabit, gigabit)) == doctest::Approx(22.4).epsilon(1e-4));
    CHECK(optimum_ms(two_clusters(3, gigabit, gigabit)) == doctest::Approx(32.5).epsilon(1e-4));
    CHECK(optimum_ms(two_clusters(4, gigabit, gigabit)) == doctest::Approx(32.5).epsilon(1e-4));
    CHECK(optimum_ms(two_clusters(2, fast_ethernet, fast_ethernet)) == doctest::Approx(174.2).epsilon(1e-4));
    CHECK(optimum_ms(two_clusters(3, fast_ethernet, fast_ethernet)) == doctest::Approx(184.3).epsilon(1e-4));
    CHECK(optimum_ms(two_clusters(4, fast_ethernet, fast_ethernet)) == doctest::Approx(260.2).epsilon(1e-4));
    for (const std::int32_t n : {2, 3, 8, 10, 16, 64}) {
        double rounds = 0;
        for (std::int32_t informed = 1; informed < n; informed *= 2) ++rounds;
        CHECK(optimum_ms(examples::star(n)) == doctest::Approx(10.1 * rounds).epsilon(1e-4));
    }
}

TEST_CASE("a computer and its message alone") {
    examples::TreeBuilder builder;
    builder.computer();
    const std::int32_t root = 0;
    const BroadcastResult result = fastest_broadcast(builder.tree(), {&root, 1});
    CHECK(result.optimal);
    CHECK(result.makespan_ns == 0);
    CHECK(result.transfers.empty());
}

TEST_CASE("no broadcast is faster than the search's, and no bound is above it") {
    const char* given = std::getenv("HOCKET_FUZZ_TREES");
    const std::int64_t num_trees = given != nullptr ? std::atoll(given) : 400;
    const std::uint64_t seed = 20'040'607;
    MESSAGE("trees " << num_trees << ", seed " << seed);
    base::Random random(seed);
    for (std::int64_t i = 0; i < num_trees; ++i) {
        CAPTURE(i);
        const auto computers = static_cast<std::int32_t>(2 + random.below(given != nullptr ? 6 : 4));
        const Tree tree = examples::random_tree(random, computers);
        std::vector<std::int32_t> holders{static_cast<std::int32_t>(random.below(computers))};
        const auto second = static_cast<std::int32_t>(random.below(computers));
        if (random.below(4) == 0 && second != holders[0]) holders.push_back(second);
        const std::int64_t best = fastest_broadcast_by_exhaustion(tree, holders);
        const BroadcastResult result = fastest_broadcast(tree, holders);
        REQUIRE(result.optimal);
        REQUIRE(result.makespan_ns == best);
        REQUIRE(faults_of(tree, holders, result.transfers) == "");
        State state(tree, holders);
        Bound bound(tree);
        REQUIRE(bound.of(state) <= best);
        // Nor is any bound on the way there.
        for (const Transfer& t : result.transfers) {
            state.add(t.source, t.target, t.start_ns);
            REQUIRE(bound.of(state) <= best);
        }
    }
}

TEST_CASE("the faster of two computers gets the message second") {
    // Whole messages: with the fastest first, only three would have it by the time when four do.
    examples::TreeBuilder builder;
    const std::int32_t a = builder.relay(), b = builder.relay();
    const auto join = [&](std::int32_t from, std::int32_t to, std::int64_t there, std::int64_t back) {
        builder.add({from, to, {there * 1'000'000, back * 1'000'000}, {0, 0}});
    };
    join(a, b, 90, 50);
    join(b, builder.computer(), 90, 40);
    join(a, builder.computer(), 90, 90);
    join(a, builder.computer(), 60, 30);
    join(a, builder.computer(), 70, 70);
    join(b, builder.computer(), 90, 60);
    join(a, builder.computer(), 80, 70);
    const Tree tree = builder.tree();
    const std::vector<std::int32_t> holders{0, 2};
    const std::int64_t best = fastest_broadcast_by_exhaustion(tree, holders);
    CHECK(milliseconds(best) == doctest::Approx(44.444).epsilon(1e-4));
    CHECK(Bound(tree).of(State(tree, holders)) <= best);
    CHECK(fastest_broadcast(tree, holders).makespan_ns == best);
}

TEST_CASE("no broadcast to all is faster than the one to what is behind a link") {
    const char* given = std::getenv("HOCKET_FUZZ_TREES");
    const std::int64_t num_trees = given != nullptr ? std::atoll(given) : 300;
    base::Random random(3);
    std::int64_t num_subtrees = 0;
    for (std::int64_t i = 0; i < num_trees; ++i) {
        CAPTURE(i);
        const auto computers = static_cast<std::int32_t>(3 + random.below(5));
        const Tree tree = examples::random_tree(random, computers);
        if (tree.has_delays()) continue;
        const std::int32_t root = 0;
        const BroadcastResult best = fastest_broadcast(tree, {&root, 1});
        std::vector<SubtreeBound> subtrees(static_cast<std::size_t>(tree.num_links()));
        for (std::int32_t link = 0; link < tree.num_links(); ++link) {
            if (link / 2 == tree.middle()) continue;
            const std::vector<bool> is_behind = computers_behind(tree, link);
            std::vector<std::int64_t> ready(is_behind.size(), 0);
            SubtreeBound& subtree = subtrees[static_cast<std::size_t>(link)];
            for (std::size_t c = 1; c < ready.size(); ++c)
                if (is_behind[c]) ready[c] = never;
            if (is_behind[0]) subtree.holders.push_back(0);
            const auto size = std::count(is_behind.begin(), is_behind.end(), true);
            if (size == static_cast<std::int64_t>(subtree.holders.size()) || size == computers) continue;
            const CutOff part = cut_off(tree, link, ready);
            subtree.needs_ns = fastest_broadcast(part.tree, part.holders).makespan_ns;
            ++num_subtrees;
        }
        State state(tree, {&root, 1});
        Bound bound(tree, subtrees);
        REQUIRE(bound.of(state) <= best.makespan_ns);
        for (const Transfer& t : best.transfers) {
            state.add(t.source, t.target, t.start_ns);
            REQUIRE(bound.of(state) <= best.makespan_ns);
        }
    }
    CHECK(num_subtrees > num_trees);
}

TEST_CASE("a broadcast with a fault is found out") {
    const Tree tree = examples::star(4);
    const std::int32_t root = 0;
    const std::int64_t t = tree.duration_ns(0, 1);
    const auto faults = [&](std::vector<Transfer> transfers) { return faults_of(tree, {&root, 1}, transfers); };
    const std::vector<Transfer> good{{0, 1, 0, t}, {0, 2, t, 2 * t}, {1, 3, t, 2 * t}};
    CHECK(faults(good) == "");
    CHECK(faults({good[0], good[1]}) == "computer 3 does not get the message");
    CHECK(faults({good[0], {0, 2, t - 1, 2 * t - 1}, good[2]}) == "link 2 is overloaded");
    CHECK(faults({good[0], good[1], {1, 3, t - 1, 2 * t - 1}}) == "1 to 3 starts without the message");
    CHECK(faults({good[0], good[1], {1, 3, t, 2 * t - 1}}) == "1 to 3 ends at another time");
    CHECK(faults({good[0], good[1], good[2], {1, 2, 3 * t, 4 * t}}) == "the message comes twice with 1 to 2");
}

TEST_CASE("computers that an automorphism exchanges have the same key") {
    const Tree tree = examples::dual(3);
    const std::int32_t root = 0;
    State state(tree, {&root, 1});
    Canonical canonical(tree);
    canonical.read(state);
    CHECK(canonical.key_with(2) == canonical.key_with(3));
    CHECK(canonical.key_with(2) == canonical.key_with(5));
    CHECK(canonical.key_with(1) != canonical.key_with(2));
    CHECK(canonical.key_with(0, 2) == canonical.key_with(0, 4));
    CHECK(canonical.key_with(0, 2) != canonical.key_with(0, 1));
    const Key before = canonical.key();
    state.add(0, 2, 0);
    canonical.read(state);
    const Key after = canonical.key();
    CHECK(after != before);
    CHECK(canonical.key_with(3) != canonical.key_with(4));
    CHECK(canonical.key_with(4) == canonical.key_with(5));
    state.take_back();
    state.add(0, 5, 0);
    canonical.read(state);
    CHECK(canonical.key() == after);
    state.take_back();
    canonical.read(state);
    CHECK(canonical.key() == before);
}
