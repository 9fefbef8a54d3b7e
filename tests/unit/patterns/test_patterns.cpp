// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/random_order.hpp"
#include "hocket/lowering/traffic.hpp"
#include "hocket/patterns/patterns.hpp"

using namespace hocket;
using namespace hocket::patterns;

namespace {

std::vector<std::int32_t> targets(const Traffic& traffic, std::int32_t source) {
    std::vector<std::int32_t> targets;
    for (std::int64_t i = 0; i < traffic.num_messages(Rank{source}); ++i)
        targets.push_back(traffic.message(Rank{source}, i).target.value);
    return targets;
}

}  // namespace

TEST_CASE("a random order is a permutation, and a ring over all") {
    for (const std::int32_t n : {1, 2, 3, 5, 8, 100, 1000, 3456}) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            CAPTURE(n);
            CAPTURE(seed);
            const base::RandomOrder order(n, seed);
            std::vector<bool> seen(static_cast<std::size_t>(n), false);
            std::int32_t at = 0;
            for (std::int32_t i = 0; i < n; ++i) {
                CHECK(order.at(order.place_of(i)) == i);
                seen[static_cast<std::size_t>(at)] = true;
                at = order.after(at);
            }
            CHECK(at == 0);
            CHECK(std::count(seen.begin(), seen.end(), true) == n);
        }
    }
}

TEST_CASE("a random order is random: fixed points and ascents as often as in shuffles") {
    constexpr std::int32_t n = 4096;
    double fixed = 0, ascents = 0, near = 0;
    constexpr int orders = 200;
    for (std::uint64_t seed = 0; seed < orders; ++seed) {
        const base::RandomOrder order(n, base::random_bits(seed, 0));
        for (std::int32_t i = 0; i < n; ++i) {
            fixed += order.at(i) == i;
            ascents += order.at(i) < order.after(order.at(i));
            near += order.after(i) / 64 == i / 64;
        }
    }
    CHECK(fixed / orders == doctest::Approx(1).epsilon(0.35));  // 5 standard deviations
    CHECK(ascents / orders / n == doctest::Approx(0.5).epsilon(0.005));
    CHECK(near / orders == doctest::Approx(63).epsilon(0.05));
}

TEST_CASE("patterns send what their names mean") {
    CHECK(targets(*shift(5, -1, 2, {}), 0) == std::vector{4, 4});
    CHECK(targets(*all_to_all(4, 1, {}), 2) == std::vector{3, 0, 1});
    CHECK(targets(*incast(3, Rank{1}, 2, {}), 0) == std::vector{1, 1});
    CHECK(targets(*incast(3, Rank{1}, 2, {}), 1).empty());
    CHECK(targets(*nearest_neighbour({3, 4}, false, 1, {}), 0) == std::vector{4, 1});
    CHECK(targets(*nearest_neighbour({3, 4}, true, 1, {}), 0) == std::vector{8, 4, 3, 1});
    CHECK(targets(*nearest_neighbour({2, 1}, true, 2, {}), 1) == std::vector{0, 0});
    const std::vector<std::int64_t> bytes{7, 1, 0, 0, 0, 2, 3, 4, 0};
    const auto matrix = from_matrix(3, bytes);
    CHECK(targets(*matrix, 0) == std::vector{1, 0});
    CHECK(matrix->message(Rank{2}, 1).bytes == 4);
    const auto ring = random_ring(10, 3, {}, 5);
    std::set<std::int32_t> receivers;
    for (std::int32_t s = 0; s < 10; ++s) {
        const std::vector<std::int32_t> to = targets(*ring, s);
        CHECK(std::count(to.begin(), to.end(), to[0]) == 3);
        receivers.insert(to[0]);
    }
    CHECK(receivers.size() == 10);
}

TEST_CASE("random sizes keep to their bounds and mean, and depend on the seed alone") {
    const auto ring = random_ring(1000, 20, {1000, 0.5, 3}), same = random_ring(1000, 20, {1000, 0.5, 3}, 99),
               other = random_ring(1000, 20, {1000, 0.5, 4});
    double sum = 0;
    std::int64_t least = 1000, most = 1000, equal = 0;
    for (std::int32_t s = 0; s < 1000; ++s)
        for (std::int64_t i = 0; i < 20; ++i) {
            const std::int64_t bytes = ring->message(Rank{s}, i).bytes;
            CHECK(bytes == same->message(Rank{s}, i).bytes);
            equal += bytes == other->message(Rank{s}, i).bytes;
            sum += static_cast<double>(bytes);
            least = std::min(least, bytes);
            most = std::max(most, bytes);
        }
    CHECK(sum / 20000 == doctest::Approx(1000).epsilon(0.01));
    CHECK(least >= 500);
    CHECK(least < 505);
    CHECK(most <= 1500);
    CHECK(most > 1495);
    CHECK(equal < 100);
}

TEST_CASE("a program of a traffic has its messages") {
    const auto traffic = random_permutation(6, 4, {100, 0.5, 1});
    const Program program = program_of(*traffic);
    check(program);
    for (const RankProgram& rank : program.ranks) {
        CHECK(std::count_if(rank.ops.begin(), rank.ops.end(),
                            [](const ProgramOp& op) { return op.kind == ProgramOpKind::send; }) == 4);
        CHECK(std::count_if(rank.ops.begin(), rank.ops.end(), [](const ProgramOp& op) {
                  return op.kind == ProgramOpKind::recv && op.num_dependencies == 0;
              }) == 4);
        CHECK(rank.dependencies.size() == 3);
    }
}

TEST_CASE("arguments out of range are refused") {
    CHECK_THROWS_AS(random_ring(0, 1, {}), InvalidInput);
    CHECK_THROWS_AS(shift(0, 1, 1, {}), InvalidInput);
    CHECK_THROWS_AS(random_ring(4, -1, {}), InvalidInput);
    CHECK_THROWS_AS(random_ring(4, 1, {-1, 0, 1}), InvalidInput);
    CHECK_THROWS_AS(random_ring(4, 1, {1, 1.5, 1}), InvalidInput);
    CHECK_THROWS_AS(incast(4, Rank{4}, 1, {}), InvalidInput);
    CHECK_THROWS_AS(nearest_neighbour({100000, 100000}, true, 1, {}), InvalidInput);
    CHECK_THROWS_AS(nearest_neighbour({3, 0}, true, 1, {}), InvalidInput);
    constexpr std::int64_t most = std::int64_t{1} << 62;  // of all ranks together
    CHECK(random_ring(4, most / 4, {})->num_messages(Rank{0}) == most / 4);
    CHECK_THROWS_AS(random_ring(4, most / 4 + 1, {}), InvalidInput);
    CHECK_THROWS_AS(shift(4, 1, std::numeric_limits<std::int64_t>::max(), {}), InvalidInput);
    CHECK_THROWS_AS(all_to_all(1 << 20, std::int64_t{1} << 31, {}), InvalidInput);
    CHECK_THROWS_AS(nearest_neighbour({2, 2}, true, most / 4, {}), InvalidInput);
    const std::vector<std::int64_t> bytes{0, -1, 0, 0};
    CHECK_THROWS_AS(from_matrix(2, bytes), InvalidInput);
    const std::vector<std::int64_t> large{0, (std::int64_t{1} << 52) + 1, 0, 0};
    CHECK_THROWS_AS(from_matrix(2, large), InvalidInput);
    CHECK_THROWS_AS(from_matrix(3, bytes), InvalidInput);
}
