// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include "hocket/base/error.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/replay/place.hpp"
#include "hocket/replay/program_builder.hpp"
#include "hocket/replay/whole_program.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;
using replay::ProgramBuilder, replay::WholeProgram;

namespace {

// Two ranks, 1 MB/s each way, no latency: a message of n bytes takes n us.
Network two_ranks() {
    const Link to_b{NodeId{0}, NodeId{1}, 1e6, 0, 0}, to_a{NodeId{1}, NodeId{0}, 1e6, 0, 1};
    return Network("pair", {{"a", NodeKind::host}, {"b", NodeKind::host}}, {to_b, to_a}, {NodeId{0}, NodeId{1}});
}

}  // namespace

TEST_CASE("a non-blocking message runs beside a computation, a blocking one does not") {
    for (const bool blocking : {false, true}) {
        WholeProgram whole(2);
        ProgramBuilder builder(whole, 2);
        const auto sent = builder.send(Rank{0}, Rank{1}, 7, 1000);
        if (blocking) {
            builder.await(Rank{0}, sent);
        }
        builder.compute(Rank{0}, 1e-3);
        builder.await(Rank{0}, sent);
        const auto received = builder.recv(Rank{1}, Rank{0}, 7, 1000);
        if (blocking) {
            builder.await(Rank{1}, received);
        }
        builder.compute(Rank{1}, 1e-3);
        builder.await(Rank{1}, received);
        builder.compute(Rank{0}, 1e-3);
        const Timeline timeline = simulate(whole.take(), two_ranks());
        CHECK(timeline.makespan_s == doctest::Approx(blocking ? 3e-3 : 2e-3));
    }
}

TEST_CASE("a frontier of many requests stays narrow") {
    WholeProgram whole(2);
    ProgramBuilder builder(whole, 2);
    for (int i = 0; i < 1000; ++i) {
        builder.await(Rank{0}, builder.send(Rank{0}, Rank{1}, 0, 1));
        builder.await(Rank{1}, builder.recv(Rank{1}, Rank{0}, 0, 1));
    }
    const Program program = whole.take();
    CHECK(program.ranks[0].dependencies.size() < 10'000);
    CHECK_FALSE(first_fault(program).has_value());
}

TEST_CASE("a part of a smaller program gets its members and its tag") {
    Program ping{std::vector<RankProgram>(2)};
    ping.ranks[0].add({ProgramOpKind::send, Rank{1}, 0, 1000});
    ping.ranks[1].add({ProgramOpKind::recv, Rank{0}, 0, 1000});
    const std::vector<Rank> members = {Rank{2}, Rank{1}};
    WholeProgram whole(3);
    ProgramBuilder builder(whole, 3);
    builder.await(Rank{2}, builder.graft(Rank{2}, ping.ranks[0], members, 5, 0));
    builder.await(Rank{1}, builder.graft(Rank{1}, ping.ranks[1], members, 5, 0));
    builder.await(Rank{1}, builder.graft(Rank{1}, ping.ranks[1], members, OpSink::Tag{5} << 32U, 0));
    const Program program = whole.take();
    CHECK(program.ranks[0].ops.empty());
    CHECK(program.ranks[2].ops.at(0).peer == Rank{1});
    CHECK(program.ranks[1].ops.at(0).peer == Rank{2});
    // Of a Program, tags have numbers.
    CHECK(program.ranks[1].ops.at(0).tag == program.ranks[2].ops.at(0).tag);
    CHECK(program.ranks[1].ops.at(1).tag != program.ranks[1].ops.at(0).tag);
    CHECK(program.ranks[1].calls.size() == 2);
    CHECK(program.ranks[1].calls[0].collective == program.ranks[2].calls.at(0).collective);
    CHECK(program.ranks[1].calls[1].collective != program.ranks[1].calls[0].collective);

    const Program placed = replay::place(ping, members, 3);
    CHECK(placed.ranks[2].ops.at(0).peer == Rank{1});
    // Side by side, with numbers of collectives of their own.
    ping.ranks[0].calls.push_back({0, 0, 1});
    ping.ranks[1].calls.push_back({0, 0, 1});
    const Program* const both[] = {&ping, &ping};
    const std::vector<Rank> lists[] = {members, {Rank{0}, Rank{4}}};
    const Program together = replay::place_all(both, lists, 5);
    CHECK(together.ranks[4].ops.at(0).peer == Rank{0});
    CHECK(together.ranks[1].ops.at(0).peer == Rank{2});
    CHECK(together.ranks[1].calls.at(0).collective == 0);
    CHECK(together.ranks[4].calls.at(0).collective == 1);
    CHECK(together.ranks[3].ops.empty());
    const std::vector<Rank> overlap[] = {members, {Rank{0}, Rank{1}}};
    CHECK_THROWS_AS(replay::place_all(both, overlap, 5), InvalidInput);
    CHECK_THROWS_AS(replay::place(ping, std::vector<Rank>{Rank{1}, Rank{1}}, 3), InvalidInput);
    CHECK_THROWS_AS(replay::place(ping, std::vector<Rank>{Rank{1}, Rank{3}}, 3), InvalidInput);
    CHECK_THROWS_AS(replay::place(ping, std::vector<Rank>{Rank{1}}, 3), InvalidInput);
}
