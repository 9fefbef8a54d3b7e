// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;
using namespace hocket::collectives;

namespace {

struct Ring {
    std::vector<Rank> order;
    std::vector<std::int32_t> starts;
};

/// Ranks in any order; one in `places_per_start`, and at least one, begins a block.
Ring random_ring(base::Random& random, std::int32_t n, std::int64_t places_per_start) {
    Ring ring;
    for (std::int32_t r = 0; r < n; ++r) {
        ring.order.emplace_back(r);
        if (random.below(places_per_start) == 0) ring.starts.push_back(r);
    }
    if (ring.starts.empty()) ring.starts.push_back(n - 1);
    for (std::size_t i = ring.order.size(); i-- > 1;)
        std::swap(ring.order[i], ring.order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
    return ring;
}

Schedule uneven_ring(Collective collective, const Ring& ring, std::int32_t segments) {
    const auto n = static_cast<std::int32_t>(ring.order.size());
    return emit(find_algorithm(collective, "uneven_ring"), {n, segments, ring.starts}, {Rank{0}, ring.order});
}

}  // namespace

TEST_CASE("uneven rings are right and cross the links before their starts less often") {
    base::Random random(4);
    for (const std::int32_t n : {2, 3, 5, 9})
        for (int sample = 0; sample < 8; ++sample) {
            const Ring ring = random_ring(random, n, 2);
            const auto& [order, starts] = ring;
            const std::int32_t segments = 1 + sample % 3;
            const Schedule schedule = uneven_ring(Collective::allreduce, ring, segments);
            const Validation validation = validate(schedule);
            CHECK_MESSAGE(validation.ok(), validation.violations.front());
            const auto blocks = static_cast<std::int32_t>(starts.size());
            for (std::int32_t v = 0; v < n; ++v) {
                std::int32_t sends = 0;
                for (const Op& op : schedule.ranks[order[static_cast<std::size_t>(v)].at()].ops)
                    sends += op.kind == OpKind::send ? 1 : 0;
                const auto is_start = [&](std::int32_t at) {
                    return static_cast<std::int32_t>(std::count(starts.begin(), starts.end(), at));
                };
                CHECK(sends == segments * (2 * blocks - is_start(v) - is_start((v + 1) % n)));
            }
        }
}

TEST_CASE("uneven rings of allgather are right, and the links before their starts carry what comes from elsewhere") {
    base::Random random(5);
    for (const std::int32_t n : {1, 2, 3, 5, 9})
        for (int sample = 0; sample < 8; ++sample) {
            const Ring ring = random_ring(random, n, 3);
            const auto& [order, starts] = ring;
            const std::int32_t segments = 1 + sample % 3;
            const Schedule schedule = uneven_ring(Collective::allgather, ring, segments);
            const Validation validation = validate(schedule);
            CHECK_MESSAGE(validation.ok(), validation.violations.front());
            if (n < 3) continue;  // a rank's two neighbours are one
            for (std::size_t i = 0; i < starts.size(); ++i) {
                const std::int32_t start = starts[i], next = starts[(i + 1) % starts.size()];
                const std::int32_t stretch = (next - start + n - 1) % n + 1;
                const Rank before = order[static_cast<std::size_t>((start + n - 1) % n)];
                std::int32_t crossing = 0;
                for (const Op& op : schedule.ranks[order[static_cast<std::size_t>(start)].at()].ops)
                    crossing += op.peer == before ? 1 : 0;
                CHECK(crossing == segments * (n - stretch));
            }
        }
}

TEST_CASE("each rank of an uneven ring emits its own part, the same as in the whole") {
    constexpr std::uint64_t seed = 6;
    MESSAGE("seed ", seed);
    base::Random random(seed);
    for (const Collective collective : {Collective::allreduce, Collective::allgather})
        for (int sample = 0; sample < 40; ++sample) {
            const auto n = static_cast<std::int32_t>(1 + random.below(24));
            const Ring ring = random_ring(random, n, 1 + random.below(6));
            const auto segments = static_cast<std::int32_t>(1 + random.below(5));
            const Schedule whole = uneven_ring(collective, ring, segments);
            const Validation validation = validate(whole);
            CHECK_MESSAGE(validation.ok(), validation.violations.front());
            const Algorithm& algorithm = find_algorithm(collective, "uneven_ring");
            for (std::int32_t r = 0; r < n; ++r)
                CHECK(emit_rank(algorithm, {n, segments, ring.starts}, {Rank{0}, ring.order}, Rank{r}) ==
                      whole.ranks[static_cast<std::size_t>(r)]);
        }
    // 16,384 ranks in 4 stretches: a rank handles the 4 blocks at most four times each, whatever the number of ranks.
    const std::vector<std::int32_t> starts = {0, 4096, 8192, 12288};
    const RankSchedule part =
        emit_rank(find_algorithm(Collective::allreduce, "uneven_ring"), {16384, 1, starts}, {}, Rank{5000});
    CHECK(part.ops.size() == 16);
}

TEST_CASE("starts everywhere give the messages of the textbook ring") {
    const std::vector<std::int32_t> everywhere = {0, 1, 2, 3};
    for (const Collective collective : {Collective::allreduce, Collective::allgather}) {
        const Algorithm& uneven = find_algorithm(collective, "uneven_ring");
        const Schedule textbook = emit(find_algorithm(collective, "ring"), {4, 2}, {});
        const Schedule spared = emit(uneven, {4, 2, everywhere}, {});
        CHECK(spared == emit(uneven, {4, 2}, {}));
        CHECK(spared.segments == textbook.segments);
        for (std::size_t r = 0; r < 4; ++r) CHECK(spared.ranks[r].ops.size() == textbook.ranks[r].ops.size());
    }
}

TEST_CASE("a segment in bytes is of one of the blocks, of which there is one for each start") {
    const std::vector<std::int32_t> starts = {0, 4};
    const Algorithm& allreduce = find_algorithm(Collective::allreduce, "uneven_ring");
    CHECK(segments_of_size(allreduce, {8, 1, starts}, 100'000, 8192) == 7);  // of 50,000 bytes
    CHECK(segments_of_size(allreduce, {8}, 100'000, 8192) == 2);             // of 12,500
    CHECK(segments_for(allreduce, {8, 7, starts}) == 14);
    CHECK(segments_of_size(find_algorithm(Collective::allgather, "uneven_ring"), {8, 1, starts}, 10'000, 8192) == 2);
}

TEST_CASE("wrong starts are refused") {
    const auto refused = [](std::string_view name, std::vector<std::int32_t> starts, std::string_view message) {
        CHECK_THROWS_WITH_AS(emit(find_algorithm(Collective::allreduce, name), {2, 1, starts}, {}),
                             std::string(message).c_str(), InvalidInput);
    };
    refused("uneven_ring", {0, 0}, "starts hold 0: expected increasing positions from 0 to 1");
    refused("uneven_ring", {2}, "starts hold 2: expected increasing positions from 0 to 1");
    refused("uneven_ring", {-1}, "starts hold -1: expected increasing positions from 0 to 1");
    refused("ring", {0}, "ring has no starts, but some are given");
    const std::vector<std::int32_t> one = {0};
    CHECK_THROWS_AS(emit(find_algorithm(Collective::allgather, "uneven_ring"), {2, 1 << 22, one}, {}), InvalidInput);
}
