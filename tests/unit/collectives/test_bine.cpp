// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Bine trees and Swing, against the numbers of rounds and bytes that the papers state, and their claim: messages go
// less far on a ring than those of binomial trees and of recursive doubling.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/collectives/bine.hpp"
#include "hocket/cost/rounds.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;
using namespace hocket::collectives;

namespace {

struct Named {
    Collective collective;
    std::string_view name;
};
constexpr std::array butterflies = {
    Named{Collective::allreduce, "swing"},
    Named{Collective::allgather, "bine"},
    Named{Collective::reduce_scatter_block, "bine"},
};
constexpr std::array trees = {
    Named{Collective::bcast, "bine"},
    Named{Collective::reduce, "bine"},
    Named{Collective::scatter, "bine"},
    Named{Collective::gather, "bine"},
};

std::vector<std::int32_t> numbers_of_ranks() {
    std::vector<std::int32_t> numbers(70);
    std::iota(numbers.begin(), numbers.end(), 1);
    numbers.insert(numbers.end(), {129, 256, 1000});
    return numbers;
}

Schedule right_schedule(const Named& algorithm, std::int32_t p) {
    Schedule schedule = emit(find_algorithm(algorithm.collective, algorithm.name), {p, 1}, {});
    const Validation validation = validate(schedule);
    REQUIRE_MESSAGE(validation.ok(), name_of(algorithm.collective), " ", algorithm.name, " of ", p,
                    " ranks: ", validation.violations.front());
    return schedule;
}

std::int64_t num_rounds(const Schedule& schedule) {
    std::int64_t rounds = 0;
    for (const auto& round : cost::rounds_of(schedule.ranks, schedule.segments).rounds) rounds += round.times;
    return rounds;
}

std::int64_t chunks_sent(const RankSchedule& part) {
    std::int64_t chunks = 0;
    for (const Op& op : part.ops)
        for (const ChunkRange& range : part.chunks_of(op)) chunks += op.kind == OpKind::send ? range.count : 0;
    return chunks;
}

/// Around the ring, of all messages together, each times its chunks if `weighted`.
std::int64_t distances(const Schedule& schedule, bool weighted) {
    std::int64_t sum = 0;
    for (std::int32_t r = 0; r < schedule.num_ranks; ++r) {
        const RankSchedule& part = schedule.ranks[static_cast<std::size_t>(r)];
        for (const Op& op : part.ops) {
            if (op.kind != OpKind::send) continue;
            std::int64_t chunks = 0;
            for (const ChunkRange& range : part.chunks_of(op)) chunks += range.count;
            const std::int32_t apart = std::abs(op.peer.value - r);
            sum += std::min(apart, schedule.num_ranks - apart) * (weighted ? chunks : 1);
        }
    }
    return sum;
}

std::int32_t ceil_log2(std::int32_t p) { return p < 2 ? 0 : std::bit_width(static_cast<std::uint32_t>(p) - 1); }

}  // namespace

TEST_CASE("partners are at the distances of the paper, and each other's") {
    constexpr std::array expected = {1, -1, 3, -5, 11, -21, 43, -85};
    for (std::int32_t step = 0; step < 8; ++step)
        CHECK(bine::distance(step) == expected[static_cast<std::size_t>(step)]);
    for (const std::int32_t ring : {2, 6, 8, 100, 1024})
        for (std::int32_t step = 0; step < bine::num_steps(ring); ++step)
            for (std::int32_t v = 0; v < ring; ++v) {
                const std::int32_t partner = bine::partner(v, step, ring);
                CHECK(partner != v);
                CHECK(bine::partner(partner, step, ring) == v);
            }
}

TEST_CASE("trees of ceil(log2 p) rounds and p - 1 messages, for any number of ranks") {
    for (const Named& algorithm : trees)
        for (const std::int32_t p : numbers_of_ranks()) {
            CAPTURE(p);
            const Schedule schedule = right_schedule(algorithm, p);
            CHECK(num_rounds(schedule) <= ceil_log2(p));
            std::int64_t ops = 0;
            for (const RankSchedule& part : schedule.ranks) ops += static_cast<std::int64_t>(part.ops.size());
            CHECK(ops == 2 * (p - 1));
            const RankSchedule& root = schedule.ranks.front();
            if (std::has_single_bit(static_cast<std::uint32_t>(p)))
                CHECK(static_cast<std::int32_t>(root.ops.size()) == ceil_log2(p));
        }
}

TEST_CASE("butterflies move no block twice, and take ceil(log2 p) rounds each way on an even number of ranks") {
    for (const auto& [collective, name] : butterflies)
        for (const std::int32_t p : numbers_of_ranks()) {
            if (p < 2) continue;
            CAPTURE(p);
            const Schedule schedule = right_schedule({collective, name}, p);
            const bool is_allreduce = collective == Collective::allreduce;
            const std::int32_t ways = is_allreduce ? 2 : 1, ring = p - p % 2;
            // Of the last of an odd number a block goes to each rank of the ring, and one comes back.
            const std::int64_t once = is_allreduce ? ring - 1 + p % 2 : p - 1;
            for (std::int32_t r = 0; r < p; ++r) {
                const std::int64_t sent = chunks_sent(schedule.ranks[static_cast<std::size_t>(r)]);
                CHECK(sent == (is_allreduce && r == ring ? ring : is_allreduce ? 2 * (ring - 1) + p % 2 : once));
            }
            if (p % 2 == 0) CHECK(num_rounds(schedule) == ways * ceil_log2(p));
        }
}

// Recursive doubling goes 2^s far in step s, these about 2^(s+1) / 3 [DeSensi25]. Where messages double or halve, the
// large ones here go to the nearest ranks.
TEST_CASE("on a ring messages go about a third less far") {
    struct Pair {
        Named near, far;
        bool weighted;
    };
    for (const Pair& pair : std::initializer_list<Pair>{
             {{Collective::allreduce, "swing"}, {Collective::allreduce, "rabenseifner"}, true},
             {{Collective::allgather, "bine"}, {Collective::allgather, "recursive_doubling"}, true},
             {{Collective::reduce_scatter_block, "bine"},
              {Collective::reduce_scatter_block, "recursive_halving"},
              true},
             {{Collective::bcast, "bine"}, {Collective::bcast, "binomial"}, false},
             {{Collective::reduce, "bine"}, {Collective::reduce, "binomial"}, false}})
        for (const std::int32_t p : {16, 64, 256}) {
            CAPTURE(pair.near.name);
            CAPTURE(pair.far.name);
            CAPTURE(p);
            const auto near = static_cast<double>(distances(right_schedule(pair.near, p), pair.weighted));
            const auto far = static_cast<double>(distances(right_schedule(pair.far, p), pair.weighted));
            CHECK(near < 0.8 * far);
        }
    // The steps themselves, 1 + 1 + 3 + 5 + 11 + 21 against 1 + 2 + 4 + 8 + 16 + 32 for each of 64 ranks, and back.
    CHECK(distances(right_schedule({Collective::allreduce, "swing"}, 64), false) == 2 * 64 * 42);
    CHECK(distances(right_schedule({Collective::allreduce, "rabenseifner"}, 64), false) == 2 * 64 * 63);
}

TEST_CASE("a message of Swing is one range of blocks where the ranks are a power of two") {
    for (const std::int32_t p : {2, 4, 8, 16, 32, 64, 256})
        for (const RankSchedule& part : right_schedule({Collective::allreduce, "swing"}, p).ranks)
            for (const Op& op : part.ops) CHECK(op.num_ranges == 1);
}

TEST_CASE("a rank of a Bine tree of very many computes its own place") {
    const RankSchedule part =
        emit_rank(find_algorithm(Collective::bcast, "bine"), {1'000'000'000, 1}, {}, Rank{12'345'678});
    CHECK(part.ops.size() <= 31);
    const RankSchedule root = emit_rank(find_algorithm(Collective::gather, "bine"), {1 << 20, 1}, {}, Rank{0});
    CHECK(root.ops.size() == 20);
}
