// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/candidates.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace {

using hocket::selection::Candidates;
using Verdict = Candidates::Verdict;

constexpr std::size_t native = 0, schedule = 1;
constexpr Candidates::Policy thrice{.slower_percent = 5, .lost_comparisons = 3, .lost_percent_limit = 0};
constexpr Candidates::Policy by_sum{.slower_percent = 5, .lost_comparisons = 100, .lost_percent_limit = 200};

Verdict compare(Candidates& candidates, std::int64_t native_ns, std::int64_t schedule_ns) {
    candidates.agree(native, native_ns);
    candidates.agree(schedule, schedule_ns);
    return candidates.compare(native);
}

}  // namespace

TEST_CASE("A rank states the lower median of its samples, and none after they are cleared") {
    Candidates candidates(2, native, thrice);
    CHECK(candidates.sample_ns(schedule) == Candidates::no_time);
    for (const std::int64_t ns : {70, 10, 50, 30}) candidates.took(schedule, ns);
    CHECK(candidates.sample_ns(schedule) == 30);
    CHECK(candidates.sample_ns(native) == Candidates::no_time);
    candidates.took(schedule, 0);
    CHECK(candidates.sample_ns(schedule) == 30);
    candidates.clear_samples();
    CHECK(candidates.sample_ns(schedule) == Candidates::no_time);
    candidates.took(native, 0);  // a clock that is too coarse
    CHECK(candidates.sample_ns(native) == 1);
}

TEST_CASE("The arm in use gives way after comparisons lost in a row, by more than the policy's percent") {
    Candidates candidates(2, schedule, thrice);
    for (int i = 0; i < 10; ++i) CHECK(compare(candidates, 100, 105) == Verdict::kept);
    CHECK(compare(candidates, 100, 106) == Verdict::lost);
    CHECK(compare(candidates, 100, 106) == Verdict::lost);
    CHECK(candidates.num_lost() == 2);
    CHECK(compare(candidates, 100, 100) == Verdict::kept);
    CHECK(candidates.num_lost() == 0);
    CHECK(compare(candidates, 100, 900) == Verdict::lost);
    CHECK(compare(candidates, 100, 106) == Verdict::lost);
    CHECK(candidates.chosen() == schedule);
    CHECK(compare(candidates, 100, 106) == Verdict::changed);
    CHECK(candidates.chosen() == native);
    CHECK(candidates.num_changes() == 1);
}

TEST_CASE("It gives way when it loses much in the sum, though it wins most comparisons") {
    Candidates candidates(2, schedule, by_sum);
    int lost = 0;
    // 80 % - 5 % lost, twice 10 % + 5 % gained: 45 % in three comparisons.
    for (; candidates.chosen() == schedule && lost < 100; ++lost) {
        if (compare(candidates, 100, 500) == Verdict::changed) break;
        for (int i = 0; i < 2; ++i) CHECK(compare(candidates, 100, 90) == Verdict::kept);
    }
    CHECK(lost == 3);
    Candidates even(2, schedule, by_sum);
    for (int i = 0; i < 1000; ++i) {
        CHECK(compare(even, 100, 200) == Verdict::lost);
        CHECK(compare(even, 200, 100) == Verdict::kept);  // a gain counts as a loss does
    }
}

TEST_CASE("One comparison decides nothing, however much is lost in it") {
    Candidates candidates(2, schedule, by_sum);
    CHECK(compare(candidates, 1, 1'000'000'000'000'000) == Verdict::lost);
}

TEST_CASE("What has no time loses") {
    Candidates candidates(2, schedule, thrice);
    CHECK(compare(candidates, 100, Candidates::no_time) == Verdict::lost);
    CHECK(compare(candidates, Candidates::no_time, 100) == Verdict::kept);
}

TEST_CASE("Comparisons lost elsewhere count") {
    Candidates suspect(2, schedule, thrice);
    suspect.inherit(2, native);
    CHECK(suspect.chosen() == schedule);
    CHECK(compare(suspect, 100, 200) == Verdict::changed);
    Candidates slower(2, schedule, thrice);
    slower.inherit(3, native);
    CHECK(slower.chosen() == native);
}

TEST_CASE("A round drops what is far behind, and keeps the native arm") {
    Candidates candidates(4, native, thrice);
    const std::int64_t times[] = {1000, 120, 100, 131};
    for (std::size_t i = 0; i < 4; ++i) candidates.agree(i, times[i]);
    CHECK(candidates.end_round(2, 30, native) == 2);
    CHECK(candidates[0].dropped_in_round == 0);
    CHECK(candidates[1].dropped_in_round == 0);
    CHECK(candidates[3].dropped_in_round == 2);
    candidates.agree(3, 50);  // dropped, so that it is not the fastest
    CHECK(candidates.end_round(3, 10, native) == 2);
    CHECK(candidates[1].dropped_in_round == 3);
}

TEST_CASE("A comparison costs at most a hundredth of the calls that pay for it") {
    Candidates candidates(2, schedule, thrice);
    CHECK(candidates.lost_by(native) == 0);  // not known
    candidates.agree(native, 300);
    candidates.agree(schedule, 100);
    CHECK(candidates.lost_by(native) == doctest::Approx(2));
    candidates.agree(native, 50);
    CHECK(candidates.lost_by(native) == 0);
    CHECK(Candidates::calls_that_pay(-1) == 0);
    CHECK(Candidates::calls_that_pay(2) == 200);
    CHECK(Candidates::calls_that_pay(0.001) == 1);
    CHECK(Candidates::calls_that_pay(1e300) == 10'000'000'000);
}
