// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Traffic that falls apart into parts which share no links, simulated by several threads.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>

#include "examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/patterns/patterns.hpp"
#include "hocket/simulation/parts.hpp"
#include "hocket/simulation/traffic.hpp"

using namespace hocket;
using namespace hocket::patterns;

namespace {

constexpr Sharing all_sharings[] = {Sharing::none, Sharing::equal, Sharing::maxmin, Sharing::reserve};

std::unique_ptr<network::Fabric> fabric_of(const std::string& what, double latency_s = 0) {
    network::GenerateOptions options;
    options.bandwidth_bytes_per_s = 1e6;
    options.latency_s = latency_s;
    return network::make_fabric(what, options);
}

/// Random bytes between ranks of the same of `num_blocks` blocks, of which some ranks send nothing.
std::unique_ptr<Traffic> blocks(base::Random& random, std::int32_t n, std::int32_t num_blocks) {
    std::vector<std::int64_t> bytes;
    for (std::int32_t a = 0; a < n; ++a)
        for (std::int32_t b = 0; b < n; ++b)
            bytes.push_back(a % num_blocks == b % num_blocks && random.below(2) == 0 ? 1'000 + random.below(9'000) : 0);
    return from_matrix(n, bytes);
}

/// NaN equals NaN.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    });
}

void check_same(const TrafficResult& a, const TrafficResult& b) {
    CHECK(a.completed == b.completed);
    CHECK(a.simulated_s == b.simulated_s);
    CHECK(a.makespan_s == b.makespan_s);
    CHECK(a.mean_finish_s == b.mean_finish_s);
    CHECK(a.num_messages == b.num_messages);
    CHECK(a.num_rates == b.num_rates);
    CHECK(same_bits(a.finish_s, b.finish_s));
    CHECK(same_bits(a.link_bytes, b.link_bytes));
    CHECK(a.link_bins.bin_s == b.link_bins.bin_s);
    CHECK(same_bits(a.link_bins.bytes, b.link_bins.bytes));
    CHECK(a.num_left_out == b.num_left_out);
    REQUIRE(a.messages.size() == b.messages.size());
    for (std::size_t i = 0; i < a.messages.size(); ++i) {
        CHECK(a.messages[i].source == b.messages[i].source);
        CHECK(a.messages[i].start_s == b.messages[i].start_s);
        CHECK(a.messages[i].end_s == b.messages[i].end_s);
    }
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        worst = std::max(worst, std::abs(a[i] - b[i]) / std::max(std::abs(b[i]), 1e-300));
    return worst;
}

/// The same bits for any number of threads, and those of the undivided engine and the reference.
void check_all_threads(const Traffic& traffic, const network::Fabric& fabric, std::int32_t in_flight = 1) {
    for (const Sharing sharing : all_sharings) {
        CAPTURE(static_cast<int>(sharing));
        TrafficOptions options;
        options.sharing = sharing;
        options.in_flight = in_flight;
        options.record_links = true;
        options.part_messages = 1;
        const TrafficResult one = simulate_traffic(traffic, fabric, options);
        CHECK(one.completed);
        CHECK(one.num_threads == 1);
        for (const std::int32_t num_threads : {2, 3, 5, 8}) {
            options.num_threads = num_threads;
            const TrafficResult more = simulate_traffic(traffic, fabric, options);
            CHECK(more.num_threads <= num_threads);
            check_same(more, one);
        }
        options.link_bins.num_bins = 16;
        options.record_messages = {{Rank{0}, Rank{1}}, 5};
        const TrafficResult recorded = simulate_traffic(traffic, fabric, options);
        CHECK(recorded.num_threads == 1);
        CHECK(same_bits(recorded.finish_s, one.finish_s));
        CHECK(same_bits(recorded.link_bytes, one.link_bytes));
        options.part_messages = 1 << 30;
        const TrafficResult whole = simulate_traffic(traffic, fabric, options);
        CHECK(whole.num_messages == one.num_messages);
        CHECK(worst_difference(one.finish_s, whole.finish_s) < 1e-9);
        CHECK(same_bits(one.link_bytes, whole.link_bytes));
        REQUIRE(recorded.messages.size() == whole.messages.size());
        CHECK(recorded.num_left_out == whole.num_left_out);
        for (std::size_t i = 0; i < whole.messages.size(); ++i)
            CHECK(recorded.messages[i].start_s == doctest::Approx(whole.messages[i].start_s).epsilon(1e-9));
        double bytes = 0, bytes_of_whole = 0;
        for (const double b : recorded.link_bins.bytes) bytes += b;
        for (const double b : whole.link_bins.bytes) bytes_of_whole += b;
        CHECK(bytes == doctest::Approx(bytes_of_whole).epsilon(1e-9));
    }
}

/// A source of its own set at each node, which fails where asked.
class Pairs final : public Traffic {
public:
    enum class Failure : std::uint8_t { none, invalid, memory };
    explicit Pairs(Failure failure = Failure::none) : failure_(failure) {}
    [[nodiscard]] std::int32_t num_sources() const override { return 16; }
    [[nodiscard]] std::int64_t num_messages(Rank) const override { return 50'000; }
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        if (source == Rank{11} && i == 3'000 && failure_ == Failure::invalid) throw InvalidInput("no such message");
        if (source == Rank{11} && i == 3'000 && failure_ == Failure::memory) throw std::bad_alloc();
        return {Rank{source.value ^ 1}, 1'000 + i % 7};
    }
    [[nodiscard]] std::int64_t num_targets(Rank) const override { return 1; }

private:
    Failure failure_;
};

}  // namespace

TEST_CASE("parts share no link, and all that hangs together is in one") {
    const auto fabric = fabric_of("fat-tree:4x4x8");
    base::Random random(5);
    for (const auto& traffic :
         {random_ring(128, 3, {}, 1), shift(128, 1, 3, {}), blocks(random, 128, 8), random_permutation(128, 2, {}, 1),
          nearest_neighbour({8, 4, 4}, false, 1, {}), incast(128, Rank{3}, 2, {}), all_to_all(128, 1, {})}) {
        const simulation::Division division = simulation::divide(*traffic, *fabric, simulation::Paths(*fabric), 1);
        if (division.is_whole()) {
            CHECK(division.parts.size() == 1);
            CHECK(division.parts[0].num_messages == total_messages(*traffic));
            continue;
        }
        std::vector<int> part_of_link(static_cast<std::size_t>(fabric->num_links()), -1);
        std::set<std::int32_t> sources;
        std::int64_t messages = 0;
        std::vector<LinkId> route;
        for (std::size_t p = 0; p < division.parts.size(); ++p) {
            const simulation::Part& part = division.parts[p];
            if (p > 0) CHECK(part.num_messages <= division.parts[p - 1].num_messages);
            std::int64_t of_part = 0;
            for (const Rank source : part.sources) {
                CHECK(sources.insert(source.value).second);
                of_part += traffic->num_messages(source);
                for (std::int64_t i = 0; i < traffic->num_messages(source); ++i) {
                    fabric->route(source, traffic->message(source, i).target, route);
                    for (const LinkId l : route) {
                        if (part_of_link[l.at()] < 0) part_of_link[l.at()] = static_cast<int>(p);
                        CHECK(part_of_link[l.at()] == static_cast<int>(p));
                        const auto number = static_cast<std::size_t>(division.numbers[l.at()]);
                        CHECK(part.capacities[number] == l.value);
                    }
                }
            }
            CHECK(part.num_messages == of_part);
            messages += of_part;
        }
        CHECK(sources.size() == 128);
        CHECK(messages == total_messages(*traffic));
    }
    // One rank sends to the next on its own cable, and to the one after on the next's: the number of parts is known.
    CHECK(simulation::divide(*shift(128, 1, 3, {}), *fabric, simulation::Paths(*fabric), 1).parts.size() == 128);
    CHECK(simulation::divide(*shift(128, 1, 3, {}), *fabric, simulation::Paths(*fabric), 30).parts.size() == 13);
    CHECK(simulation::divide(*incast(128, Rank{3}, 2, {}), *fabric, simulation::Paths(*fabric), 1).is_whole());
}

TEST_CASE("what hangs together at first sight is not looked at to the end") {
    class Asked final : public Traffic {
    public:
        [[nodiscard]] std::int32_t num_sources() const override { return 100'000; }
        [[nodiscard]] std::int64_t num_messages(Rank) const override { return 99'999; }
        [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
            ++times;
            return {Rank{static_cast<std::int32_t>((source.value + i + 1) % 100'000)}, 1};
        }
        mutable std::int64_t times = 0;
    };
    const auto fabric = fabric_of("star:100000");
    const Asked traffic;
    CHECK(simulation::divide(traffic, *fabric, simulation::Paths(*fabric), 1).is_whole());
    CHECK(traffic.times < 1'000'000);
}

TEST_CASE("targets repeat as a traffic asks") {
    for (const auto& traffic :
         {random_ring(24, 5, {}, 1), random_permutation(24, 5, {}, 1), shift(24, 5, 3, {}), all_to_all(24, 2, {}),
          incast(24, Rank{2}, 3, {}), nearest_neighbour({2, 3, 4}, true, 3, {}), shift(24, 1, 0, {})})
        for (std::int32_t s = 0; s < 24; ++s) {
            const std::int64_t period = traffic->num_targets(Rank{s});
            CHECK(period <= traffic->num_messages(Rank{s}));
            CHECK((period > 0 || traffic->num_messages(Rank{s}) == 0));
            for (std::int64_t i = period; i < traffic->num_messages(Rank{s}); ++i)
                CHECK(traffic->message(Rank{s}, i).target == traffic->message(Rank{s}, i - period).target);
        }
}

TEST_CASE("the same bits on any number of threads: regular networks") {
    for (const std::string what :
         {"fat-tree:4x4x8", "fat-tree:4x4x8/2x1", "torus:4x4x4", "dragonfly:2,4,2", "star:40"}) {
        CAPTURE(what);
        for (const double latency_s : {0.0, 1e-3}) {
            const auto fabric = fabric_of(what, latency_s);
            const std::int32_t n = fabric->num_ranks();
            base::Random random(7);
            const MessageSizes sizes{1'000'000, 0.5, 1};
            check_all_threads(*random_ring(n, 4, sizes, 3), *fabric);
            check_all_threads(*shift(n, 1, 4, sizes), *fabric, 2);
            check_all_threads(*blocks(random, n, 10), *fabric);
            check_all_threads(*blocks(random, n, 4), *fabric, 3);
        }
    }
}

TEST_CASE("the same bits on any number of threads: random trees with unlimited, half-duplex and unequal links") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network network =
            network::build(examples::random_tree(random, 8 + static_cast<std::int32_t>(random.below(20))));
        const auto fabric = network::make_fabric(network);
        const std::int32_t n = network.num_ranks();
        check_all_threads(*blocks(random, n, 1 + static_cast<std::int32_t>(random.below(8))), *fabric);
        check_all_threads(*random_ring(n, 5, {5'000, 0.5, seed}, seed), *fabric, 2);
    }
}

TEST_CASE("several threads: the calling one reports the progress of all, and stops them") {
    const auto fabric = fabric_of("star:16");
    for (const std::int32_t num_threads : {1, 2, 5}) {
        TrafficOptions options;
        options.num_threads = num_threads;
        const auto caller = std::this_thread::get_id();
        TrafficProgress last;
        std::int64_t calls = 0;
        options.on_progress = [&](const TrafficProgress& progress) {
            CHECK(std::this_thread::get_id() == caller);
            CHECK(progress.num_total == 800'000);
            CHECK(progress.num_done >= last.num_done);
            CHECK(progress.num_done <= 800'000);
            CHECK(progress.simulated_s >= last.simulated_s);
            last = progress;
            ++calls;
            return true;
        };
        const TrafficResult whole = simulate_traffic(Pairs(), *fabric, options);
        CHECK(whole.completed);
        CHECK(whole.num_threads == num_threads);
        CHECK(whole.num_messages == 800'000);
        CHECK(calls > 0);

        options.on_progress = [](const TrafficProgress& progress) { return progress.num_done < 200'000; };
        TrafficResult part = simulate_traffic(Pairs(), *fabric, options);
        // On a loaded machine the others may be done before the calling thread runs.
        for (int again = 0; part.completed && again < 50; ++again) part = simulate_traffic(Pairs(), *fabric, options);
        CHECK(!part.completed);
        CHECK(part.num_messages >= 200'000);
        CHECK(part.num_messages < 800'000);
        int finished = 0;
        for (std::size_t s = 0; s < 16; ++s) {
            if (std::isnan(part.finish_s[s])) continue;
            CHECK(part.finish_s[s] == whole.finish_s[s]);
            ++finished;
        }
        CHECK(finished < 16);

        options.on_progress = [](const TrafficProgress&) -> bool { throw InvalidInput("enough"); };
        CHECK_THROWS_AS(simulate_traffic(Pairs(), *fabric, options), InvalidInput);
        options.on_progress = {};
        CHECK_THROWS_AS(simulate_traffic(Pairs(Pairs::Failure::invalid), *fabric, options), InvalidInput);
        CHECK_THROWS_AS(simulate_traffic(Pairs(Pairs::Failure::memory), *fabric, options), std::bad_alloc);
    }
}
