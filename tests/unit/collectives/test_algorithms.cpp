// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Every algorithm for many shapes, roots and orders, executed symbolically by validate(), which knows nothing of
// algorithms.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "hocket/base/error.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;
using namespace hocket::collectives;

namespace {

constexpr std::uint32_t seed = 20240607;

std::vector<std::vector<Rank>> orders_for(std::int32_t p, std::mt19937& random) {
    std::vector<Rank> reversed;
    for (std::int32_t r = p - 1; r >= 0; --r) reversed.push_back(Rank{r});
    std::vector<Rank> shuffled = reversed;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    return {{}, reversed, shuffled};
}

void check(const Algorithm& algorithm, const Shape& shape, const Placement& placement) {
    const Schedule schedule = emit(algorithm, shape, placement);
    INFO(name_of(algorithm.collective), " ", algorithm.name, " p ", shape.num_ranks, " segments ", shape.segments,
         " root ", placement.root.value, placement.order.empty() ? "" : " reordered", " seed ", seed);
    const Validation validation = validate(schedule);
    REQUIRE_MESSAGE(validation.ok(), validation.violations.front());
    CHECK(schedule.segments == segments_for(algorithm, shape));
    for (std::int32_t r = 0; r < shape.num_ranks; ++r) {
        const RankSchedule part = emit_rank(algorithm, shape, placement, Rank{r});
        CHECK(part == schedule.ranks[static_cast<std::size_t>(r)]);
    }
}

}  // namespace

TEST_CASE("every algorithm is right for every shape, root and order") {
    std::mt19937 random(seed);
    MESSAGE("seed ", seed);
    std::vector<std::int32_t> sizes(17);
    std::iota(sizes.begin(), sizes.end(), 1);
    sizes.insert(sizes.end(), {31, 32, 33, 64});
    for (const Algorithm& algorithm : all_algorithms())
        for (const std::int32_t p : sizes)
            for (const auto& order : orders_for(p, random)) {
                std::set<std::int32_t> roots = {0};
                if (is_rooted(algorithm.collective)) roots = {0, p / 2, p - 1};
                for (const std::int32_t root : roots)
                    for (const std::int32_t segments : {1, 2, 3, 8})
                        check(algorithm, {p, segments}, {Rank{root}, order});
            }
}

TEST_CASE("the claim to preserve the order of ranks is exact") {
    for (const Algorithm& algorithm : all_algorithms()) {
        if (!combines(algorithm.collective)) continue;
        bool always = true;
        for (std::int32_t p = 1; p <= 20; ++p) always = always && validate(emit(algorithm, {p, 2}, {})).preserves_order;
        INFO(name_of(algorithm.collective), " ", algorithm.name);
        CHECK(always == algorithm.preserves_order);
    }
}

TEST_CASE("order is lost with another root or order, and validate reports it") {
    const Algorithm& chain = find_algorithm(Collective::reduce, "pipelined_chain");
    CHECK(validate(emit(chain, {4, 2}, {})).preserves_order);
    CHECK_FALSE(validate(emit(chain, {4, 2}, {Rank{1}, {}})).preserves_order);
    const std::vector<Rank> order = {Rank{0}, Rank{2}, Rank{1}, Rank{3}};
    CHECK_FALSE(validate(emit(chain, {4, 2}, {Rank{0}, order})).preserves_order);
}

TEST_CASE("names are unique, and one of them is found") {
    std::set<std::pair<Collective, std::string_view>> names;
    for (const Algorithm& algorithm : all_algorithms()) {
        CHECK(names.insert({algorithm.collective, algorithm.name}).second);
        CHECK(&find_algorithm(algorithm.collective, algorithm.name) == &algorithm);
    }
    CHECK_THROWS_WITH_AS(find_algorithm(Collective::scatter, "ring"), "unknown algorithm \"ring\" for scatter",
                         InvalidInput);
}

TEST_CASE("numbers of messages and blocks are those of the literature") {
    const auto sent_by = [](Collective collective, std::string_view name, Shape shape, std::int32_t rank) {
        const Algorithm& algorithm = find_algorithm(collective, name);
        const RankSchedule part = emit_rank(algorithm, shape, {}, Rank{rank});
        std::int32_t messages = 0;
        std::int32_t chunks = 0;
        for (const Op& op : part.ops)
            if (op.kind == OpKind::send) {
                ++messages;
                for (const ChunkRange& range : part.chunks_of(op)) chunks += range.count;
            }
        return std::pair{messages, chunks};
    };
    // Ring: p-1 messages of a block; allreduce twice that [Patarasuk09].
    CHECK(sent_by(Collective::allgather, "ring", {7, 1}, 3) == std::pair{6, 6});
    CHECK(sent_by(Collective::allreduce, "ring", {7, 1}, 3) == std::pair{12, 12});
    CHECK(sent_by(Collective::allreduce, "ring", {7, 4}, 3) == std::pair{48, 48});
    // Rabenseifner for p = 8: lg p steps each way, 2 (p-1)/p of the message, which is 8 blocks.
    CHECK(sent_by(Collective::allreduce, "rabenseifner", {8, 1}, 3) == std::pair{6, 14});
    // Recursive doubling: lg p whole messages.
    CHECK(sent_by(Collective::allreduce, "recursive_doubling", {8, 1}, 3) == std::pair{3, 3});
    // Bruck allgather: ceil(lg 7) = 3 messages of 1 + 2 + 3 blocks; alltoall sends the blocks whose distance has the
    // bit: of the distances 1 .. 6, three have bit 0, 1 or 2.
    CHECK(sent_by(Collective::allgather, "bruck", {7, 1}, 3) == std::pair{3, 6});
    CHECK(sent_by(Collective::alltoall, "bruck", {7, 1}, 3) == std::pair{3, 9});
    // Neighbour exchange: p/2 messages, p-1 blocks [Chen05].
    CHECK(sent_by(Collective::allgather, "neighbor_exchange", {8, 1}, 3) == std::pair{4, 7});
    // Pipelined chain: each segment once.
    CHECK(sent_by(Collective::bcast, "pipelined_chain", {8, 64}, 3) == std::pair{64, 64});
    // Binomial: the root sends lg p messages, a leaf none.
    CHECK(sent_by(Collective::bcast, "binomial", {8, 1}, 0) == std::pair{3, 3});
    CHECK(sent_by(Collective::bcast, "binomial", {8, 1}, 7) == std::pair{0, 0});
    // Van de Geijn for p = 8: the root scatters 4 + 2 + 1 blocks, then passes on 7 to rank 1, which has one from the
    // scatter.
    CHECK(sent_by(Collective::bcast, "scatter_allgather", {8, 1}, 0) == std::pair{10, 14});
    CHECK(sent_by(Collective::barrier, "dissemination", {9, 1}, 0) == std::pair{4, 0});
}

TEST_CASE("one rank among very many costs only its own part") {
    // A whole schedule of 10^9 ranks would not fit anywhere.
    const RankSchedule part =
        emit_rank(find_algorithm(Collective::bcast, "binomial"), {1'000'000'000, 1}, {}, Rank{12'345'678});
    CHECK(part.ops.size() == 2);
    CHECK(emit_rank(find_algorithm(Collective::allreduce, "recursive_doubling"), {1'000'000, 1}, {}, Rank{76})
              .ops.size() == 40);
}

TEST_CASE("no schedule has fewer messages than its algorithm states") {
    for (const Algorithm& algorithm : all_algorithms())
        for (const std::int32_t p : {1, 2, 3, 5, 6, 8, 13, 16, 31, 32, 33})
            for (const std::int32_t segments : {1, 3}) {
                if (segments > 1 && !algorithm.pipelines) continue;
                std::int64_t num_ops = 0;
                for (const RankSchedule& rank : emit(algorithm, {p, segments}, {}).ranks)
                    num_ops += static_cast<std::int64_t>(rank.ops.size());
                INFO(name_of(algorithm.collective), " ", algorithm.name, " p ", p, " segments ", segments);
                CHECK(2 * segments * algorithm.least_messages({p}) <= num_ops);
            }
}

TEST_CASE("bad requests are refused with what was found and what is accepted") {
    const Algorithm& bcast = find_algorithm(Collective::bcast, "linear");
    const Algorithm& alltoall = find_algorithm(Collective::alltoall, "linear");
    const Algorithm& ring = find_algorithm(Collective::allgather, "ring");
    CHECK_THROWS_WITH_AS(emit(bcast, {0, 1}, {}), "number of ranks is 0: expected 1 to 1073741824", InvalidInput);
    CHECK_THROWS_WITH_AS(emit(bcast, {4, 0}, {}), "number of segments is 0: expected at least 1", InvalidInput);
    CHECK_THROWS_WITH_AS(emit(bcast, {4, 1}, {Rank{4}, {}}), "root is 4: expected 0 to 3", InvalidInput);
    CHECK_THROWS_WITH_AS(emit(ring, {4, 1}, {Rank{1}, {}}), "root is 1, but allgather has no root: expected 0",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(emit_rank(bcast, {4, 1}, {}, Rank{-1}), "rank is -1: expected 0 to 3", InvalidInput);
    const std::vector<Rank> twice = {Rank{0}, Rank{1}, Rank{1}, Rank{3}};
    const std::vector<Rank> outside = {Rank{0}, Rank{1}, Rank{7}, Rank{3}};
    const std::vector<Rank> few = {Rank{0}};
    CHECK_THROWS_WITH_AS(emit(bcast, {4, 1}, {Rank{0}, twice}), "order names rank 1 twice: expected each rank once",
                         InvalidInput);
    CHECK_THROWS_WITH_AS(emit(bcast, {4, 1}, {Rank{0}, outside}), "order names rank 7: expected 0 to 3", InvalidInput);
    CHECK_THROWS_WITH_AS(emit(bcast, {4, 1}, {Rank{0}, few}), "order has 1 ranks: expected each of the 4 once",
                         InvalidInput);
    CHECK_THROWS_AS(emit_rank(alltoall, {100'000, 1}, {}, Rank{0}), InvalidInput);
    // What would not fit into memory is refused before it is made.
    CHECK_THROWS_AS(emit(bcast, {1'000'000'000, 1}, {}), InvalidInput);
    for (const Algorithm* algorithm : {&ring, &find_algorithm(Collective::bcast, "scatter_allgather")})
        for (int i = 0; i < 1000; ++i) CHECK_THROWS_AS(emit(*algorithm, {65'536, 1}, {}), InvalidInput);  // at once
    CHECK_THROWS_AS(emit(find_algorithm(Collective::bcast, "pipelined_chain"), {2, 2'000'000'000}, {}), InvalidInput);
}

// 100,000 bytes in segments of at most 8192: 12.2, so 13 segments; three binary digits: 14. A ring of 4 ranks cuts an
// allreduce into 4 blocks of 25,000 bytes: 3.05, so 4 segments of each.
TEST_CASE("segments in bytes become a number of segments that similar sizes share") {
    const Algorithm& chain = find_algorithm(Collective::bcast, "pipelined_chain");
    const Algorithm& ring = find_algorithm(Collective::allreduce, "ring");
    CHECK(segments_of_size(chain, {4}, 100'000, 8192) == 14);
    CHECK(segments_of_size(ring, {4}, 100'000, 8192) == 4);
    CHECK(segments_of_size(chain, {4}, 0, 8192) == 1);
    CHECK(segments_of_size(chain, {4}, 8192, 8192) == 1);
    CHECK(segments_of_size(chain, {4}, 8193, 8192) == 2);
    CHECK(segments_of_size(find_algorithm(Collective::allreduce, "recursive_doubling"), {4}, 1 << 20, 8192) == 1);
    CHECK_THROWS_AS(static_cast<void>(segments_of_size(chain, {4}, -1, 8192)), InvalidInput);
    CHECK_THROWS_AS(static_cast<void>(segments_of_size(chain, {4}, 100, 0)), InvalidInput);
}

TEST_CASE("no segment is larger than asked for unless there were too many chunks") {
    constexpr std::int64_t segment = 1000;
    for (const Algorithm& algorithm : all_algorithms()) {
        if (!algorithm.pipelines) continue;
        for (const std::int32_t p : {1, 2, 3, 8, 13}) {
            std::int32_t before = 1;
            for (std::int64_t bytes = 1; bytes < 10'000'000; bytes = bytes * 3 / 2 + 1) {
                const std::int32_t segments = segments_of_size(algorithm, {p}, bytes, segment);
                const std::int64_t cuts = algorithm.cuts({p});
                CHECK(segment * segments * cuts >= bytes);
                CHECK(segments >= before);
                before = segments;
            }
            const std::int32_t most = segments_of_size(algorithm, {p}, std::int64_t{1} << 62, 1);
            CHECK_NOTHROW(static_cast<void>(segments_for(algorithm, {p, most})));
        }
    }
}
