// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "selection/selector.hpp"

namespace {

using hocket::selection::Selector;

/// Ranks that make calls of which `delay` are in flight, unless set otherwise, each of which takes a rank time_ns(arm,
/// call) times a noise of its own.
struct Run {
    double total_ns = 0, native_ns = 0;
    std::vector<std::int64_t> calls;  // by arm
    std::size_t chosen = 0;
    bool agrees = true;
    std::int64_t num_exchanges = 0;
};

Run run(std::size_t num_arms, int num_calls, std::int64_t delay, double noise, unsigned seed,
        const std::function<double(std::size_t, int)>& time_ns, const std::vector<double>& prior = {},
        std::size_t num_in_flight = 0, double native_per_last = 0) {
    constexpr int num_ranks = 3;
    std::vector<Selector> ranks(num_ranks, Selector(num_arms, 0, delay, prior));
    if (native_per_last > 0) {
        for (Selector& rank : ranks) rank.trust(num_arms - 1, native_per_last);
    }
    if (num_in_flight == 0) num_in_flight = static_cast<std::size_t>(delay);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> factor(1, 1 + noise);
    Run result;
    result.calls.resize(num_arms);
    struct InFlight {
        std::size_t arm;
        double ns[num_ranks];
    };
    std::deque<InFlight> in_flight;
    Selector::Statement all;
    for (int call = 0; call < num_calls; ++call) {
        if (ranks[0].is_due()) {
            for (Selector& rank : ranks) rank.conclude(all);
        }
        InFlight one{ranks[0].next(), {}};
        for (int r = 1; r < num_ranks; ++r) result.agrees &= ranks[static_cast<std::size_t>(r)].next() == one.arm;
        if (ranks[0].exchanges()) {
            ++result.num_exchanges;
            all.assign(num_arms, 0);
            for (const Selector& rank : ranks) {
                const Selector::Statement mine = rank.statement();
                for (std::size_t i = 0; i < num_arms; ++i) all[i] = std::max(all[i], mine[i]);
            }
        }
        double slowest = 0;
        for (double& ns : one.ns) slowest = std::max(slowest, ns = time_ns(one.arm, call) * factor(random));
        result.total_ns += slowest;
        double native = 0;
        for (int r = 0; r < num_ranks; ++r) native = std::max(native, time_ns(0, call) * factor(random));
        result.native_ns += native;
        ++result.calls[one.arm];
        in_flight.push_back(one);
        if (in_flight.size() < num_in_flight) continue;
        for (int r = 0; r < num_ranks; ++r)
            ranks[static_cast<std::size_t>(r)].took(in_flight.front().arm,
                                                    static_cast<std::int64_t>(in_flight.front().ns[r]));
        in_flight.pop_front();
    }
    result.chosen = ranks[0].chosen();
    return result;
}

}  // namespace

TEST_CASE("The fastest arm is found, alike on all ranks, with any number of calls in flight") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::vector<double> times(2 + random() % 7);
        for (double& time : times) time = 1000 + static_cast<double>(random() % 4000);
        const std::int64_t delay = 1 + random() % 16;
        const Run found = run(times.size(), 3000, delay, 0.02, seed, [&](std::size_t arm, int) { return times[arm]; });
        CHECK(found.agrees);
        const double best = *std::min_element(times.begin(), times.end());
        CHECK(times[found.chosen] <= 1.05 * best);
        CHECK(found.total_ns <= 1.03 * found.native_ns);
        CHECK(found.num_exchanges >= 2);
    }
}

TEST_CASE("With noise as large as the differences nothing much is lost") {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::vector<double> times(6);
        for (double& time : times) time = 1000 + static_cast<double>(random() % 300);
        const Run found = run(times.size(), 3000, 1, 0.5, seed, [&](std::size_t arm, int) { return times[arm]; });
        CHECK(found.agrees);
        CHECK(found.total_ns <= 1.05 * found.native_ns);
    }
}

TEST_CASE("An arm that becomes slow gives way to the native one, and a native one to a faster arm") {
    const Run slower = run(3, 6000, 2, 0.02, 1,
                           [](std::size_t arm, int call) { return arm == 1 ? (call < 500 ? 500 : 1500) : 1000.0; });
    CHECK(slower.chosen != 1);
    CHECK(slower.total_ns < 1.03 * slower.native_ns);
    const Run faster = run(3, 20000, 2, 0.02, 1,
                           [](std::size_t arm, int call) { return arm == 2 ? (call < 500 ? 1100 : 300) : 1000.0; });
    CHECK(faster.chosen == 2);
}

TEST_CASE("An arm without hope is not tried, and one arm alone needs no exchange") {
    const std::vector<double> prior = {1, 10, 0.9};
    const Run found = run(3, 1000, 1, 0.02, 1, [](std::size_t arm, int) { return arm == 2 ? 900.0 : 1000.0; }, prior);
    CHECK(found.calls[1] == 0);
    CHECK(found.chosen == 2);
    const Run alone = run(1, 5000, 1, 0.02, 1, [](std::size_t, int) { return 1000.0; });
    CHECK(alone.num_exchanges == 0);
}

TEST_CASE("More calls in flight than expected are found out") {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        const std::size_t num_in_flight = 2 + seed;
        const auto time_ns = [](std::size_t arm, int) { return arm == 2 ? 500.0 : 1000.0; };
        const Run found = run(3, 5000, 0, 0.02, seed, time_ns, {}, num_in_flight);
        CHECK(found.agrees);
        CHECK(found.chosen == 2);
        CHECK(found.total_ns < 0.7 * found.native_ns);
    }
}

TEST_CASE("What has been measured is used at once, and gives way when it is wrong") {
    const Run right =
        run(2, 2000, 1, 0.02, 1, [](std::size_t arm, int) { return arm == 1 ? 500.0 : 1000.0; }, {}, 1, 2);
    CHECK(right.chosen == 1);
    CHECK(right.calls[0] <= 20);
    for (const std::size_t num_in_flight : {1U, 16U}) {
        const Run wrong = run(
            2, 2000, 0, 0.02, 1, [](std::size_t arm, int) { return arm == 1 ? 1200.0 : 1000.0; }, {}, num_in_flight, 2);
        CHECK(wrong.chosen == 0);
        CHECK(wrong.calls[1] < 700);
    }
}
