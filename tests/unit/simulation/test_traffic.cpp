// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <thread>

#include "examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/lowering/traffic.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/patterns/patterns.hpp"
#include "hocket/simulation/simulate.hpp"
#include "hocket/simulation/traffic.hpp"

using namespace hocket;
using namespace hocket::patterns;

namespace {

constexpr Sharing all_sharings[] = {Sharing::none, Sharing::equal, Sharing::maxmin, Sharing::reserve};

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

/// With `ties`, flows end together; then who may start first by Sharing::reserve is another one in the program.
void check_against_program(const Traffic& traffic, const Network& network, bool all_at_once = false, bool ties = true) {
    const auto fabric = network::make_fabric(network);
    const Program program = program_of(traffic, all_at_once);
    for (const Sharing sharing : all_sharings) {
        if (sharing == Sharing::reserve && ties) continue;
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
            const Timeline timeline = simulate(
                program, network, {.costs = {{.sharing = sharing}}, .ordered_pairs = false, .reference = reference});
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
        options.reference = true;
        const TrafficResult plain = simulate_traffic(traffic, *fabric, options);
        CHECK(relative(plain.makespan_s, result.makespan_s) < 1e-9);
        CHECK(relative(plain.mean_finish_s, result.mean_finish_s) < 1e-9);
        CHECK(plain.link_bytes == result.link_bytes);
        CHECK(plain.num_messages == result.num_messages);
        options.reference = false;
        options.record_links = false;  // takes the short way for messages on the same route
        CHECK(relative(simulate_traffic(traffic, *fabric, options).mean_finish_s, result.mean_finish_s) < 1e-9);
    }
}

std::unique_ptr<network::Fabric> fabric_of(const std::string& what, double latency_s = 0) {
    network::GenerateOptions options;
    options.bandwidth_bytes_per_s = 1e6;
    options.latency_s = latency_s;
    return network::make_fabric(what, options);
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
        check_against_program(*random_permutation(n, 10, sizes, 4), network, false, !(spread > 0));
        check_against_program(*random_permutation(n, 4, sizes, 5), network, true, !(spread > 0));
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
        check_against_program(*from_matrix(n, bytes), network, false, false);
        check_against_program(*from_matrix(n, bytes), network, true, false);
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
    options.in_flight = 1;
    for (options.num_threads = 0; options.num_threads <= 1025; options.num_threads += 1025)
        CHECK_THROWS_AS(simulate_traffic(*random_ring(16, 1, {}), *fabric, options), InvalidInput);
    CHECK(simulate_traffic(*random_ring(1, 5, {}), *fabric).makespan_s == 0);
    CHECK(simulate_traffic(*random_ring(8, 5, {0, 0, 1}), *fabric).makespan_s == 0);
}

TEST_CASE("a simulation reports how far it has come, and keeps what is known when it is stopped") {
    const auto fabric = fabric_of("fat-tree:4x4x8");
    const auto traffic = random_permutation(128, 200, {1'000'000, 0.5, 1});
    for (const Sharing sharing : all_sharings) {
        CAPTURE(static_cast<int>(sharing));
        TrafficOptions options;
        options.sharing = sharing;
        options.record_links = true;
        const TrafficResult whole = simulate_traffic(*traffic, *fabric, options);
        CHECK(whole.completed);
        CHECK(whole.num_messages == 25'600);

        TrafficProgress last;
        options.on_progress = [&](const TrafficProgress& progress) {
            CHECK(progress.num_total == 25'600);
            CHECK(progress.num_done > last.num_done);
            CHECK(progress.simulated_s > last.simulated_s);
            last = progress;
            return true;
        };
        CHECK(simulate_traffic(*traffic, *fabric, options).finish_s == whole.finish_s);
        CHECK(last.num_done > 0);

        options.on_progress = [](const TrafficProgress&) { return false; };
        const TrafficResult part = simulate_traffic(*traffic, *fabric, options);
        CHECK(!part.completed);
        CHECK(part.num_messages > 0);
        CHECK(part.num_messages < 25'600);
        CHECK(part.simulated_s < whole.simulated_s);
        CHECK(part.makespan_s <= part.simulated_s);
        double sum_s = 0, finished = 0;
        for (std::size_t s = 0; s < 128; ++s) {
            if (std::isnan(part.finish_s[s])) continue;
            CHECK(part.finish_s[s] == whole.finish_s[s]);
            sum_s += part.finish_s[s];
            ++finished;
        }
        CHECK(finished < 128);
        CHECK(part.mean_finish_s == (finished > 0 ? sum_s / finished : 0));
        for (std::size_t l = 0; l < part.link_bytes.size(); ++l) CHECK(part.link_bytes[l] <= whole.link_bytes[l]);

        options.on_progress = [](const TrafficProgress&) -> bool { throw InvalidInput("enough"); };
        CHECK_THROWS_AS(simulate_traffic(*traffic, *fabric, options), InvalidInput);
    }
}

TEST_CASE("the scheme of steps is the same for any number of threads, stopped or not") {
    const auto fabric = fabric_of("fat-tree:4x4x8", 1e-3);
    for (const double spread : {0.0, 0.5}) {
        const auto traffic = random_permutation(128, 2, {1'000'000, spread, 1});
        for (const Sharing sharing : all_sharings) {
            CAPTURE(static_cast<int>(sharing));
            TrafficOptions options;
            options.sharing = sharing;
            options.reference = true;
            options.record_links = true;
            options.in_flight = 2;
            const TrafficResult one = simulate_traffic(*traffic, *fabric, options);
            CHECK(one.completed);
            CHECK(one.num_messages == 256);
            for (const std::int32_t num_threads : {2, 3, 8}) {
                if (sharing != Sharing::equal && num_threads != 3) continue;
                options.num_threads = num_threads;
                const TrafficResult more = simulate_traffic(*traffic, *fabric, options);
                CHECK(more.finish_s == one.finish_s);
                CHECK(more.mean_finish_s == one.mean_finish_s);
                CHECK(more.num_rates == one.num_rates);
                CHECK(more.link_bytes == one.link_bytes);
            }
        }
    }
    const auto larger = fabric_of("fat-tree:8x8x16");
    const auto traffic = random_permutation(1'024, 100, {1'000'000, 0.5, 1});
    TrafficOptions options;
    options.sharing = Sharing::equal;
    options.reference = true;
    options.on_progress = [](const TrafficProgress& progress) {
        CHECK(progress.num_total == 102'400);
        CHECK(progress.num_done > 0);
        return false;
    };
    const TrafficResult part = simulate_traffic(*traffic, *larger, options);
    CHECK(!part.completed);
    CHECK(part.num_messages > 0);
    CHECK(part.num_messages < 102'400);
}

TEST_CASE("results are the same bits for any number of threads, and of simulations at once") {
    for (const std::string what : {"fat-tree:4x4x8", "torus:4x4x4", "dragonfly:2,4,2"}) {
        CAPTURE(what);
        const auto fabric = fabric_of(what);
        for (const double spread : {0.0, 0.5})
            for (const Sharing sharing : all_sharings) {
                CAPTURE(spread);
                CAPTURE(static_cast<int>(sharing));
                const auto traffic = random_permutation(fabric->num_ranks(), 10, {1'000'000, spread, 1});
                TrafficOptions options;
                options.sharing = sharing;
                const TrafficResult one = simulate_traffic(*traffic, *fabric, options);
                std::vector<TrafficResult> others(4);
                std::vector<std::thread> threads;
                for (std::size_t t = 0; t < others.size(); ++t)
                    threads.emplace_back([&, t] {
                        TrafficOptions own = options;
                        own.num_threads = std::array{1, 2, 3, 8}[t];
                        others[t] = simulate_traffic(*traffic, *fabric, own);
                    });
                for (std::thread& thread : threads) thread.join();
                for (const TrafficResult& other : others) {
                    CHECK(other.finish_s == one.finish_s);
                    CHECK(other.makespan_s == one.makespan_s);
                    CHECK(other.mean_finish_s == one.mean_finish_s);
                    CHECK(other.num_rates == one.num_rates);
                }
            }
    }
}

TEST_CASE("what goes wrong in a thread reaches the caller") {
    class Failing final : public Traffic {
    public:
        [[nodiscard]] std::int32_t num_sources() const override { return 16; }
        [[nodiscard]] std::int64_t num_messages(Rank) const override { return 10; }
        [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
            if (source == Rank{11} && i == 3) throw InvalidInput("no such message");
            return {Rank{(source.value + 1) % 16}, 1000 + source.value};
        }
    };
    const auto fabric = fabric_of("fat-tree:2x2x4");
    for (const bool reference : {true, false})
        for (const std::int32_t num_threads : {1, 2, 3}) {
            TrafficOptions options;
            options.reference = reference;
            options.num_threads = num_threads;
            options.sharing = num_threads == 3 ? Sharing::maxmin : Sharing::equal;
            CHECK_THROWS_AS(simulate_traffic(Failing(), *fabric, options), InvalidInput);
        }
}

TEST_CASE("a program's simulation can be stopped too") {
    const Network network = network_of("fat-tree:4x4x8");
    const Program program = program_of(*random_permutation(128, 100, {1'000'000, 0.5, 1}));
    SimulationOptions options;
    options.record_links = true;
    const Timeline whole = simulate(program, network, options);
    options.on_progress = [](const SimulationProgress& progress) {
        CHECK(progress.num_total == 25'600);
        return progress.num_done < 10'000;
    };
    const Timeline part = simulate(program, network, options);
    CHECK(whole.completed);
    REQUIRE(!part.completed);
    CHECK(part.makespan_s < whole.makespan_s);
    std::int64_t ended = 0;
    for (std::size_t r = 0; r < 128; ++r) {
        bool finished = true;
        for (std::size_t i = 0; i < part.ranks[r].size(); ++i) {
            const double end_s = part.ranks[r][i].end_s;
            finished = finished && !std::isnan(end_s);
            ended += std::isnan(end_s) ? 0 : 1;
            CHECK((std::isnan(end_s) || end_s == whole.ranks[r][i].end_s));
        }
        CHECK(std::isnan(part.finish_s[r]) == !finished);
    }
    CHECK(ended >= 10'000);
    for (const auto& use : part.link_use)
        if (!use.empty()) CHECK(use.back().end_s <= part.makespan_s);
}
