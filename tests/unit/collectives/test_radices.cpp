// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The trees and exchanges of larger radix, against the numbers of rounds, messages and blocks that follow from the
// digits of ranks and distances.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/rounds.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;
using namespace hocket::collectives;

namespace {

std::vector<std::int32_t> numbers_of_ranks(std::initializer_list<std::int32_t> larger) {
    std::vector<std::int32_t> numbers(70);
    std::iota(numbers.begin(), numbers.end(), 1);
    numbers.insert(numbers.end(), larger);
    return numbers;
}

struct Digits {
    std::int32_t places = 0;   ///< of the numbers below p
    std::int32_t turns = 0;    ///< positive digits times their place values below p
    std::int64_t nonzero = 0;  ///< digits of all numbers below p together that are not 0
};
Digits digits_of(std::int32_t p, std::int32_t radix) {
    Digits found;
    for (std::int64_t unit = 1; unit < p; unit *= radix) {
        ++found.places;
        for (std::int32_t digit = 1; digit < radix && digit * unit < p; ++digit) ++found.turns;
    }
    for (std::int32_t number = 0; number < p; ++number)
        for (std::int32_t left = number; left > 0; left /= radix) found.nonzero += left % radix != 0 ? 1 : 0;
    return found;
}

struct Counts {
    std::int64_t rounds = 0, messages = 0, most_messages = 0, chunks = 0;  ///< most_messages: of one rank
};
Counts counts_of(const Schedule& schedule) {
    Counts counts;
    for (const auto& round : cost::rounds_of(schedule.ranks, schedule.segments).rounds) counts.rounds += round.times;
    for (const RankSchedule& part : schedule.ranks) {
        std::int64_t messages = 0;
        for (const Op& op : part.ops) {
            if (op.kind != OpKind::send) continue;
            ++messages;
            for (const ChunkRange& range : part.chunks_of(op)) counts.chunks += range.count;
        }
        counts.messages += messages;
        counts.most_messages = std::max(counts.most_messages, messages);
    }
    return counts;
}

Schedule right_schedule(Collective collective, std::string_view name, std::int32_t p) {
    Schedule schedule = emit(find_algorithm(collective, name), {p, 1}, {});
    const Validation validation = validate(schedule);
    REQUIRE_MESSAGE(validation.ok(), name, " of ", p, " ranks: ", validation.violations.front());
    return schedule;
}

}  // namespace

TEST_CASE("a k-nomial tree has a level for each digit, and a child of the root for each value of one") {
    struct Tree {
        std::string_view name;
        std::int32_t radix;
    };
    for (const auto& [name, radix] : std::array<Tree, 3>{{{"binomial", 2}, {"knomial_4", 4}, {"knomial_8", 8}}})
        for (const std::int32_t p : numbers_of_ranks({129, 256, 1000})) {
            CAPTURE(name);
            CAPTURE(p);
            const Digits digits = digits_of(p, radix);
            for (const Collective collective : {Collective::bcast, Collective::reduce}) {
                const Counts counts = counts_of(right_schedule(collective, name, p));
                CHECK(counts.messages == p - 1);
                // The deepest rank has the most digits that are not 0: all, or all but the highest.
                CHECK(counts.rounds <= digits.places);
                CHECK(counts.rounds >= digits.places - 1);
                if (collective == Collective::bcast) CHECK(counts.most_messages == digits.turns);
            }
        }
    // A rank among a billion computes its own place: 8^9 is the highest place value below.
    const RankSchedule root =
        emit_rank(find_algorithm(Collective::bcast, "knomial_8"), {1'000'000'000, 1}, {}, Rank{0});
    CHECK(root.ops.size() == 9 * 7 + 7);
}

TEST_CASE("exchanges of radix 4 take a round for each digit to the base 4") {
    for (const std::int32_t p : numbers_of_ranks({129, 256})) {
        CAPTURE(p);
        const Digits digits = digits_of(p, 4);
        const Counts allgather = counts_of(right_schedule(Collective::allgather, "bruck_4", p));
        CHECK(allgather.rounds == digits.places);
        CHECK(allgather.messages == std::int64_t{p} * digits.turns);
        CHECK(allgather.chunks == std::int64_t{p} * (p - 1));  // no block comes twice
        const Counts barrier = counts_of(right_schedule(Collective::barrier, "dissemination_4", p));
        CHECK(barrier.rounds == digits.places);
        CHECK(barrier.messages == std::int64_t{p} * digits.turns);
        if (p > 129) continue;  // p^2 blocks
        const Counts alltoall = counts_of(right_schedule(Collective::alltoall, "bruck_4", p));
        CHECK(alltoall.rounds == digits.places);
        CHECK(alltoall.messages == std::int64_t{p} * digits.turns);
        CHECK(alltoall.chunks == p * digits.nonzero);  // a block travels once for each digit of its distance
    }
}
