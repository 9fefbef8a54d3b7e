// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "selection/choice.hpp"

namespace {

using hocket::selection::Choice;
using Way = Choice::Way;

/// A program that computes for so long beside a communication that takes so long, of which the background hides all.
struct Program {
    std::int64_t compute_ns, communication_ns, background_cost_ns = 1000;

    Way call(Choice& choice) const {
        const Way way = choice.next();
        if (way == Way::timed_native) choice.took(false, compute_ns, communication_ns);
        const std::int64_t left_ns = std::max<std::int64_t>(0, communication_ns - compute_ns);
        if (way == Way::background) choice.took(true, compute_ns, left_ns + background_cost_ns);
        return way;
    }
    int calls_in_background(Choice& choice, int calls) const {
        int num = 0;
        for (int i = 0; i < calls; ++i) num += call(choice) == Way::background;
        return num;
    }
};

}  // namespace

TEST_CASE("goes to the background where that hides communication") {
    Choice choice(true);
    const Program program{10'000'000, 10'000'000};
    CHECK(program.calls_in_background(choice, 3) == 0);
    CHECK(program.calls_in_background(choice, 5 + 64) == 5 + 64);
    CHECK(program.calls_in_background(choice, 3) == 0);  // looked at again
    CHECK(program.calls_in_background(choice, 5 + 256) == 5 + 256);
}

TEST_CASE("stays native where the program waits at once, does not wait, or all is short") {
    for (const bool is_large : {false, true}) {
        for (const Program program : {Program{100, 10'000'000}, Program{10'000'000, 100}, Program{5'000, 5'000}}) {
            Choice choice(is_large);
            CHECK(program.calls_in_background(choice, 10'000) == 0);
        }
    }
}

TEST_CASE("small calls that can gain nothing are hardly timed") {
    Choice choice(false);
    const Program program{100, 2'000};
    int timed = 0;
    for (int i = 0; i < 10'000; ++i) timed += program.call(choice) != Way::native;
    CHECK(timed <= 3 * 6);
}

TEST_CASE("large calls are seen to change at once") {
    Choice choice(true);
    CHECK(Program{100, 10'000'000}.calls_in_background(choice, 1001) == 0);
    CHECK(Program{10'000'000, 10'000'000}.calls_in_background(choice, 20) >= 14);
}

TEST_CASE("leaves the background where it is slower") {
    Choice choice(true);
    const Program program{10'000'000, 10'000'000, 30'000'000};
    CHECK(program.calls_in_background(choice, 3 + 5 + 64) == 5);
    CHECK(program.calls_in_background(choice, 3 + 5 + 256) == 5);
}

TEST_CASE("what began before the step changed is not counted") {
    Choice choice(true);
    for (int i = 0; i < 16; ++i) CHECK(choice.next() == Way::timed_native);  // in flight together
    for (int i = 0; i < 16; ++i) choice.took(false, 1'000'000, 1'000'000);
    CHECK(choice.next() == Way::background);
}
