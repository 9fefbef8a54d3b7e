// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <map>

#include "hocket/base/error.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/lowering/lower.hpp"

using namespace hocket;
using namespace hocket::collectives;

namespace {

Schedule textbook(Collective collective, std::string_view name, std::int32_t p, std::int32_t segments = 1) {
    return emit(find_algorithm(collective, name), {p, segments}, {});
}

std::vector<std::int32_t> after(const RankProgram& rank, std::size_t op) {
    const auto list = rank.dependencies_of(rank.ops[op]);
    return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("segments are cut by the one rule and whole elements") {
    // 10 elements of 8 bytes in 3 segments: 3, 3, 4 elements (segment i ends at 10 (i+1) / 3).
    const Program program = lower(textbook(Collective::bcast, "pipelined_chain", 3, 3), 80, 8);
    const RankProgram& middle = program.ranks[1];
    REQUIRE(middle.ops.size() == 6);
    CHECK(middle.ops[0].kind == ProgramOpKind::recv);
    CHECK(middle.ops[0].bytes == 24);
    CHECK(middle.ops[1].kind == ProgramOpKind::send);
    CHECK(after(middle, 1) == std::vector{0});
    CHECK(middle.ops[2].bytes == 24);
    CHECK(middle.ops[4].bytes == 32);
    CHECK(middle.ops[4].tag == 2);
    CHECK(middle.ops[4].peer == Rank{0});
}

TEST_CASE("a receive that reduces becomes recv and reduce; the message is taken before the own send is done") {
    const Program program = lower(textbook(Collective::allreduce, "recursive_doubling", 4), 100);
    const RankProgram& rank = program.ranks[0];
    // send(1); recv(1), reduce after both; send(2) after the reduce; recv(2) at the same time; reduce after both.
    REQUIRE(rank.ops.size() == 6);
    CHECK(after(rank, 0).empty());
    CHECK(rank.ops[1].kind == ProgramOpKind::recv);
    CHECK(after(rank, 1).empty());
    CHECK(rank.ops[2].kind == ProgramOpKind::reduce);
    CHECK(rank.ops[2].bytes == 100);
    CHECK(after(rank, 2) == std::vector{0, 1});
    CHECK(after(rank, 3) == std::vector{2});
    CHECK(rank.ops[4].kind == ProgramOpKind::recv);
    CHECK(after(rank, 4) == std::vector{2});
    CHECK(after(rank, 5) == std::vector{3, 4});
}

TEST_CASE("messages of no bytes are left out, and who waits for them waits for what they waited for") {
    // 2 bytes in 4 segments: segments 1 and 3 have one byte each, 0 and 2 none.
    const Program program = lower(textbook(Collective::bcast, "pipelined_chain", 3, 4), 2);
    CHECK(program.ranks[1].ops.size() == 4);
    CHECK(program.ranks[1].ops[0].tag == 1);
    CHECK(lower(textbook(Collective::allreduce, "ring", 5, 2), 0).ranks[3].ops.empty());
}

TEST_CASE("messages of a barrier have no bytes and stay") {
    const Program program = lower(textbook(Collective::barrier, "dissemination", 5), 0);
    CHECK(program.ranks[2].ops.size() == 6);
    for (const ProgramOp& op : program.ranks[2].ops) CHECK(op.bytes == 0);
}

TEST_CASE("messages without chunks stay, whatever the size") {
    Schedule s{Collective::bcast, "custom", 2, Rank{0}, 1, std::vector<RankSchedule>(2)};
    s.ranks[0].add(OpKind::send, Rank{1}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::send, Rank{0}, {}, {0});
    s.ranks[0].add(OpKind::recv, Rank{1}, {}, {});
    CHECK(lower(s, 8).ranks[0].ops.size() == 2);
    const Program program = lower(s, 0);
    CHECK(program.ranks[0].ops.size() == 1);
    CHECK(program.ranks[0].ops[0].kind == ProgramOpKind::recv);
    CHECK(program.ranks[1].ops.size() == 1);
}

TEST_CASE("every message has its counterpart of the same size, and all ranks get what they must") {
    for (const Algorithm& algorithm : all_algorithms())
        for (const std::int32_t p : {1, 2, 3, 5, 8, 13})
            for (const std::int64_t bytes : {0, 1, 7, 1000}) {
                const Schedule schedule = emit(algorithm, {p, 3}, {});
                const Program program = lower(schedule, bytes);
                CHECK_FALSE(first_fault(program).has_value());
                std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<std::int64_t>> sent,
                    received;
                std::int64_t arrived = 0;
                for (std::int32_t r = 0; r < p; ++r)
                    for (const ProgramOp& op : program.ranks[static_cast<std::size_t>(r)].ops) {
                        if (op.kind == ProgramOpKind::send) sent[{r, op.peer.value, op.tag}].push_back(op.bytes);
                        if (op.kind != ProgramOpKind::recv) continue;
                        received[{op.peer.value, r, op.tag}].push_back(op.bytes);
                        arrived += op.bytes;
                    }
                INFO(name_of(algorithm.collective), " ", algorithm.name, " p ", p, " bytes ", bytes);
                CHECK(sent == received);
                for (const auto& [key, sizes] : sent) CHECK(sizes.size() == 1);
                // What must cross at least: each rank but the root, or each pair.
                if (algorithm.collective == Collective::bcast || algorithm.collective == Collective::reduce)
                    CHECK(arrived >= (p - 1) * bytes);
                if (algorithm.collective == Collective::allgather || algorithm.collective == Collective::alltoall)
                    CHECK(arrived >= std::int64_t{p} * (p - 1) * bytes);
            }
}

TEST_CASE("bad sizes are refused") {
    const Schedule schedule = textbook(Collective::bcast, "linear", 3);
    CHECK_THROWS_WITH_AS(lower(schedule, 10, 4), "bytes is 10: expected a multiple of element_bytes, 4, and at least 0",
                         InvalidInput);
    CHECK_THROWS_AS(lower(schedule, -1), InvalidInput);
    CHECK_THROWS_AS(lower(schedule, 8, 0), InvalidInput);
    CHECK_THROWS_AS(lower(textbook(Collective::alltoall, "linear", 4), std::int64_t{1} << 60), InvalidInput);
    Schedule broken = schedule;
    broken.ranks.pop_back();
    CHECK_THROWS_WITH_AS(lower(broken, 8), "the schedule is malformed: operations of 2 ranks: expected 3",
                         InvalidInput);
}
