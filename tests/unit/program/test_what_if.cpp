// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <cmath>

#include "hocket/base/error.hpp"
#include "hocket/program/what_if.hpp"

using namespace hocket;

namespace {

/// Each rank computes `count` times 1 s, then sends or receives.
Program two_ranks(int count) {
    Program program{std::vector<RankProgram>(2)};
    for (RankProgram& part : program.ranks)
        for (int i = 0; i < count; ++i) {
            ProgramOp op{};
            op.kind = ProgramOpKind::compute;
            op.seconds = 1;
            part.add(op);
        }
    program.ranks[0].add({ProgramOpKind::send, Rank{1}, 0, 100});
    program.ranks[1].add({ProgramOpKind::recv, Rank{0}, 0, 100});
    return program;
}

double seconds_of(const RankProgram& part) {
    double sum = 0;
    for (const ProgramOp& op : part.ops) sum += op.seconds;
    return sum;
}

}  // namespace

TEST_CASE("computations are scaled, of all ranks or of one, and nothing else changes") {
    const Program before = two_ranks(4);
    WhatIf what_if;
    CHECK(changed(before, what_if) == before);
    what_if.cpu_scale = 0.5;
    what_if.cpu_scale_of[1] = 1.25;
    const Program after = changed(before, what_if);
    CHECK(seconds_of(after.ranks[0]) == 2);
    CHECK(seconds_of(after.ranks[1]) == 5);
    CHECK(after.ranks[0].ops.back() == before.ranks[0].ops.back());
}

TEST_CASE("a delay lies where the rank has computed for so long") {
    WhatIf what_if;
    what_if.delays = {{Rank{1}, 7, 2.5}, {Rank{1}, 0.5}};
    const Program after = changed(two_ranks(4), what_if);
    CHECK(seconds_of(after.ranks[0]) == 4);
    CHECK(after.ranks[1].ops[0].seconds == 1.5);
    CHECK(after.ranks[1].ops[1].seconds == 1);
    CHECK(after.ranks[1].ops[2].seconds == 8);
    what_if.delays = {{Rank{1}, 7, 4}};
    CHECK_THROWS_AS(changed(two_ranks(4), what_if), InvalidInput);
}

TEST_CASE("noise has the mean and the deviation of its distribution, and follows its seed") {
    constexpr int count = 100'000;
    struct Case {
        const char* text;
        double mean, deviation;
    };
    for (const Case& one : {Case{"normal:0.1", 1, 0.1}, Case{"lognormal:0.2", 1, std::sqrt(std::expm1(0.04))},
                            Case{"exponential:0.3", 1.3, 0.3}, Case{"uniform:0.6", 1, 0.6 / std::sqrt(3)}}) {
        CAPTURE(one.text);
        WhatIf what_if;
        what_if.noise = {noise_from(one.text, 5)};
        const Program noisy = changed(two_ranks(count), what_if);
        double sum = 0, squares = 0;
        for (const ProgramOp& op : noisy.ranks[0].ops) {
            sum += op.seconds;
            squares += op.seconds * op.seconds;
        }
        const double mean = sum / count;
        CHECK(mean == doctest::Approx(one.mean).epsilon(0.01));
        CHECK(std::sqrt(squares / count - mean * mean) == doctest::Approx(one.deviation).epsilon(0.02));
        CHECK(noisy.ranks[0].ops[0] != noisy.ranks[1].ops[0]);
        CHECK(changed(two_ranks(count), what_if) == noisy);
        what_if.noise[0].seed = 6;
        CHECK_FALSE(changed(two_ranks(count), what_if) == noisy);
    }
}

TEST_CASE("what cannot be is refused") {
    const auto refused = [](const WhatIf& what_if) { CHECK_THROWS_AS(changed(two_ranks(1), what_if), InvalidInput); };
    WhatIf what_if;
    what_if.cpu_scale = -1;
    refused(what_if);
    what_if = {};
    what_if.cpu_scale_of[2] = 1;
    refused(what_if);
    what_if = {};
    what_if.delays = {{Rank{2}, 1}};
    refused(what_if);
    what_if = {};
    what_if.noise = {noise_from("uniform:1.5", 1)};
    refused(what_if);
    what_if = {};
    what_if.cpu_scale = 1e308;
    refused(what_if);
    what_if = {};
    what_if.noise = {noise_from("normal:1e308", 1)};
    refused(what_if);
    for (const char* text : {"", "normal", "normal:", "normal:x", "normal:-1", "gauss:1", "normal:0.1s", "normal:inf"})
        CHECK_THROWS_AS(noise_from(text, 1), InvalidInput);
}
