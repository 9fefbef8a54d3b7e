// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <random>

#include "hocket/base/error.hpp"
#include "hocket/program/goal.hpp"

using namespace hocket;

namespace {

std::vector<std::int32_t> after(const Program& program, std::size_t rank, std::size_t op) {
    const auto list = program.ranks[rank].dependencies_of(program.ranks[rank].ops[op]);
    return {list.begin(), list.end()};
}

std::string refusal(std::string_view text) {
    try {
        program_from_goal(text, "file.goal");
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a program is written as LogGOPSim reads it") {
    Program program;
    program.ranks.resize(2);
    const std::int32_t compute = program.ranks[0].add({.kind = ProgramOpKind::compute, .peer = {}, .seconds = 1.5e-6});
    program.ranks[0].add({.kind = ProgramOpKind::send, .peer = Rank{1}, .tag = 7, .bytes = 4096}, std::vector{compute});
    const std::int32_t receive =
        program.ranks[1].add({.kind = ProgramOpKind::recv, .peer = Rank{0}, .tag = 7, .bytes = 4096});
    program.ranks[1].add({.kind = ProgramOpKind::reduce, .peer = {}, .bytes = 4096}, std::vector{receive});
    // 4096 B at 4 GB/s = 1024 ns.
    CHECK(to_goal(program, 4e9) == R"(num_ranks 2

rank 0 {
l1: calc 1500
l2: send 4096b to 1 tag 7
l2 requires l1
}

rank 1 {
l1: recv 4096b from 0 tag 7
// reduce 4096b
l2: calc 1024
l2 requires l1
}
)");
    CHECK(program_from_goal(to_goal(program, 4e9)) == program);
    CHECK(program_from_goal(to_goal(program)) == program);
}

TEST_CASE("circuits are comments before a calc that LogGOPSim reads") {
    Program program;
    program.ranks.resize(2);
    for (const std::int32_t rank : {0, 1}) {
        RankProgram& part = program.ranks[static_cast<std::size_t>(rank)];
        const Rank peer{1 - rank};
        const std::int32_t up = part.add({.kind = ProgramOpKind::connect, .peer = peer});
        part.add({.kind = ProgramOpKind::disconnect, .peer = peer}, std::vector{up});
    }
    const std::string text = to_goal(program);
    CHECK(text.starts_with("num_ranks 2\n\nrank 0 {\n// connect 1\nl1: calc 0\n// disconnect 1\nl2: calc 0\n"));
    CHECK(program_from_goal(text) == program);
    CHECK(has_circuits(program));
    CHECK(refusal("num_ranks 2\nrank 0 {\n// connect 2\ncalc 0\n}\nrank 1 {\n}\n") ==
          "file.goal, line 4: peer 2 is not a rank: expected 0 to 1");
    for (const char* comment :
         {"connect", "connect 1 now", "connect -1", "connect 99999999999", "reduce 5", "reduce b"}) {
        const std::string plain = std::string("num_ranks 1\nrank 0 {\n// ") + comment + "\ncalc 7\n}\n";
        CHECK(program_from_goal(plain).ranks[0].ops[0].kind == ProgramOpKind::compute);
    }
    CHECK(refusal("num_ranks 1\nrank 0 {\n// connect x\ncalc 0\n}\n") ==
          "file.goal, line 4: the comment before this calc is \"connect x\": it names no rank");
    CHECK(program_from_goal("num_ranks 1\nrank 0 {\n// connect x\nl: calc 5\n}\n").ranks[0].ops.size() == 1);
}

TEST_CASE("dependencies may point forwards") {
    Program program;
    program.ranks.resize(1);
    program.ranks[0].add({.kind = ProgramOpKind::compute, .peer = {}, .seconds = 1e-9}, std::vector{1});
    program.ranks[0].add({.kind = ProgramOpKind::compute, .peer = {}, .seconds = 2e-9});
    CHECK(program_from_goal(to_goal(program)) == program);
}

TEST_CASE("the general form is read: comments, no labels, cpu and nic, blanks, labels used before they come") {
    const Program program = program_from_goal(R"(/* a comment
over two lines */
num_ranks 2   // two
rank 1 {
	recv 10 b from 0 cpu 1 nic 0
}
rank 0 { // rank 0 last
  two requires one
  one: calc 5 cpu 3 // reduce 9b
  calc 6
  two: send 10b to 1 tag 0 cpu 0 nic 2 }
)");
    REQUIRE(program.ranks.size() == 2);
    REQUIRE(program.ranks[0].ops.size() == 3);
    CHECK(program.ranks[0].ops[0].seconds == doctest::Approx(5e-9));
    CHECK(program.ranks[0].ops[1].kind == ProgramOpKind::compute);  // the comment stands behind an op: not ours
    CHECK(program.ranks[0].ops[2].bytes == 10);
    CHECK(after(program, 0, 2) == std::vector{0});
    CHECK(program.ranks[1].ops[0].peer == Rank{0});
}

TEST_CASE("irequires: both wait for an op that stands for the start of the one") {
    const Program program = program_from_goal(
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 100\nc: calc 3\n"
        "b requires a\nc irequires b\n}\n");
    // Ops: a, b, c, start of b. The start waits for a; b and c wait for the start.
    REQUIRE(program.ranks[0].ops.size() == 4);
    CHECK(program.ranks[0].ops[3].seconds == 0);
    CHECK(after(program, 0, 3) == std::vector{0});
    CHECK(after(program, 0, 1) == std::vector{3});
    CHECK(after(program, 0, 2) == std::vector{3});
}

TEST_CASE("errors name the file and the line, what was found and what is accepted") {
    CHECK(refusal("") == "file.goal, line 1: expected \"num_ranks\", found the end of the file");
    CHECK(refusal("num_ranks 0\n") == "file.goal, line 1: num_ranks is 0: expected at least 1");
    CHECK(refusal("num_ranks 2\nrank 0 {\n}\n") == "file.goal, line 4: rank 1 is missing: num_ranks is 2");
    CHECK(refusal("num_ranks 2000000000\n") == "file.goal, line 2: rank 0 is missing: num_ranks is 2000000000");
    CHECK(refusal("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n") == "file.goal, line 4: rank 0 comes twice");
    CHECK(refusal("num_ranks 1\nrank 1 {\n}\n") == "file.goal, line 2: expected a rank up to 0, found \"1\"");
    CHECK(refusal("num_ranks 1\nrank 0 {\nl1: jump 5\n}\n") == "file.goal, line 3: unknown operation \"jump\"");
    CHECK(refusal("num_ranks 1\nrank 0 {\nl1: calc 5ms\n}\n") ==
          "file.goal, line 3: expected the end of the line, found \"ms\"");
    CHECK(refusal("num_ranks 1\nrank 0 {\nl1: calc 5\nl1: calc 5\n}\n") ==
          "file.goal, line 4: label \"l1\" is used twice in this rank");
    CHECK(refusal("num_ranks 1\nrank 0 {\nl1: calc 5\nl1 requires l2\n}\n") ==
          "file.goal, line 4: label \"l2\" is not in this rank");
    CHECK(refusal("num_ranks 1\nrank 0 {\nl1: calc 5\nl1 requires l1\n}\n") ==
          "file.goal, line 3: it waits for itself through its dependencies");
    CHECK(refusal("num_ranks 2\nrank 0 {\nrecv 5b from -1\n}\n") ==
          "file.goal, line 3: -1 (any rank) is not supported: a program names the sender of each message");
    CHECK(refusal("num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n")
              .find("file.goal, line 3: expected a time in ns up to") == 0);
    CHECK(refusal("num_ranks 1\nrank 0 {\ncalc 5\n") ==
          "file.goal, line 4: expected an operation, a label or \"}\", found the end of the file");
    CHECK(refusal("num_ranks 1 /* no end") == "file.goal, line 1: the comment /* has no end */");
    CHECK(refusal("num_ranks 2\nrank 0 {\nsend 5 to 1\n}\n") == "file.goal, line 3: expected \"b\", found \"to\"");
}

TEST_CASE("random programs survive the round trip") {
    constexpr std::uint32_t seed = 7;
    MESSAGE("seed ", seed);
    std::mt19937 random(seed);
    const auto below = [&](std::int32_t n) {
        return static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(n));
    };
    for (int round = 0; round < 200; ++round) {
        Program program;
        const std::int32_t p = 1 + below(5);
        for (std::int32_t r = 0; r < p; ++r) {
            RankProgram& rank = program.ranks.emplace_back();
            for (std::int32_t i = 0; i < below(20); ++i) {
                std::vector<std::int32_t> waits;
                for (std::int32_t d = 0; d < i && waits.size() < 3; ++d)
                    if (below(3) == 0) waits.push_back(d);
                const auto kind = static_cast<ProgramOpKind>(below(4));
                ProgramOp op{.kind = kind, .peer = {}};
                if (kind == ProgramOpKind::send || kind == ProgramOpKind::recv)
                    op.peer = Rank{below(p)}, op.tag = below(100);
                if (kind != ProgramOpKind::compute) op.bytes = below(1 << 30);
                if (kind == ProgramOpKind::compute) op.seconds = below(1 << 30) * 1e-9;
                rank.add(op, waits);
            }
        }
        CHECK(program_from_goal(to_goal(program, 1e9)) == program);
    }
}

TEST_CASE("faults of a program are named") {
    const auto fault = [](ProgramOp op, std::vector<std::int32_t> waits) {
        Program program;
        program.ranks.resize(2);
        program.ranks[1].add(op, waits);
        const auto found = first_fault(program);
        return found ? found->what : "none";
    };
    CHECK(fault({.kind = ProgramOpKind::send, .peer = Rank{2}}, {}) == "peer 2 is not a rank: expected 0 to 1");
    CHECK(fault({.kind = ProgramOpKind::recv, .peer = {}}, {}) == "peer -1 is not a rank: expected 0 to 1");
    CHECK(fault({.kind = ProgramOpKind::reduce, .peer = {}, .bytes = -1}, {}) == "bytes is -1: expected at least 0");
    CHECK(fault({.kind = ProgramOpKind::compute, .peer = {}, .seconds = -1}, {}) ==
          "seconds must be finite and at least 0");
    CHECK(fault({.kind = ProgramOpKind::compute, .peer = {}}, {1}) == "it depends on op 1: expected 0 to 0");
    CHECK(fault({.kind = ProgramOpKind::compute, .peer = {}}, {0}) == "it waits for itself through its dependencies");
    CHECK(fault({.kind = ProgramOpKind::compute, .peer = {}}, {}) == "none");
}
