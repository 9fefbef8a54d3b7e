// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"
#include "hocket/search/uneven_ring.hpp"

using namespace hocket;
using namespace hocket::search;

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

}  // namespace

TEST_CASE("uneven rings are right and cross the links before their starts less often") {
    base::Random random(4);
    for (const std::int32_t n : {2, 3, 5, 9})
        for (int sample = 0; sample < 8; ++sample) {
            const auto [order, starts] = random_ring(random, n, 2);
            const std::int32_t segments = 1 + sample % 3;
            const Schedule schedule = uneven_ring_allreduce(order, starts, segments);
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
            const auto [order, starts] = random_ring(random, n, 3);
            const std::int32_t segments = 1 + sample % 3;
            const Schedule schedule = uneven_ring_allgather(order, starts, segments);
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

TEST_CASE("starts everywhere give the messages of the textbook ring") {
    const std::vector<Rank> order = {Rank{0}, Rank{1}, Rank{2}, Rank{3}};
    const auto& ring = collectives::find_algorithm(Collective::allreduce, "ring");
    const Schedule textbook = collectives::emit(ring, {4, 2}, {});
    const Schedule uneven = uneven_ring_allreduce(order, std::vector{0, 1, 2, 3}, 2);
    CHECK(uneven.segments == textbook.segments);
    for (std::size_t r = 0; r < 4; ++r) CHECK(uneven.ranks[r].ops.size() == textbook.ranks[r].ops.size());
    const auto& gather = collectives::find_algorithm(Collective::allgather, "ring");
    const Schedule blocks = collectives::emit(gather, {4, 2}, {}),
                   spared = uneven_ring_allgather(order, std::vector{0, 1, 2, 3}, 2);
    for (std::size_t r = 0; r < 4; ++r) CHECK(spared.ranks[r].ops.size() == blocks.ranks[r].ops.size());
}

TEST_CASE("what is not a ring is refused") {
    const std::vector<Rank> order = {Rank{0}, Rank{1}}, twice = {Rank{0}, Rank{0}};
    CHECK_THROWS_AS(uneven_ring_allreduce(twice, std::vector{0}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allreduce({}, std::vector{0}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allreduce(order, std::vector<std::int32_t>{}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allreduce(order, std::vector{0, 0}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allreduce(order, std::vector{2}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allreduce(order, std::vector{0}, 0), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allgather(twice, std::vector{0}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allgather(order, std::vector{2}, 1), InvalidInput);
    CHECK_THROWS_AS(uneven_ring_allgather(order, std::vector{0}, 1 << 22), InvalidInput);
}
