// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;

namespace {

Schedule empty(Collective collective, std::int32_t p, std::int32_t segments = 1) {
    return {collective, "custom", p, Rank{0}, segments, std::vector<RankSchedule>(static_cast<std::size_t>(p))};
}

std::string first_violation(const Schedule& schedule) {
    const Validation validation = validate(schedule);
    return validation.ok() ? "ok" : validation.violations.front();
}

}  // namespace

TEST_CASE("nothing to do is right for one rank only") {
    CHECK(validate(empty(Collective::allreduce, 1)).ok());
    CHECK(validate(empty(Collective::allreduce, 1)).preserves_order);
    CHECK(first_violation(empty(Collective::bcast, 2)) == "rank 1: chunk 0 at the end: expected its data, found none");
    CHECK(first_violation(empty(Collective::reduce, 3)) ==
          "rank 0: chunk 0 at the end: expected the contributions of all 3 ranks, found those of 0");
    CHECK(first_violation(empty(Collective::barrier, 2)) ==
          "rank 0: chunk 1 at the end: expected to know that rank 1 has entered, found no chain of messages from it");
}

TEST_CASE("messages without counterpart and with other chunks are named") {
    Schedule s = empty(Collective::bcast, 2, 2);
    s.ranks[0].add(OpKind::send, Rank{1}, {{0, 2}}, {});
    CHECK(first_violation(s) ==
          "rank 0, op 0 (send to 1): no op at the other end: rank 0 sends 1 messages to rank 1, which "
          "receives 0");
    s.ranks[1].add(OpKind::recv, Rank{0}, {{1, 1}, {0, 1}}, {});
    CHECK(first_violation(s) ==
          "rank 1, op 0 (recv from 0): expected chunks 0 to 1 as sent by op 0 of rank 0, found 1, 0");
    s.ranks[1] = {};
    s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}, {1, 1}}, {});  // the same chunks in other ranges
    CHECK(validate(s).ok());
}

TEST_CASE("data cannot be sent before they are there") {
    // 1 passes on to 2 what it gets from 0, but does not wait for it: a race, seen before anything runs.
    Schedule s = empty(Collective::bcast, 3);
    s.ranks[0].add(OpKind::send, Rank{1}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::send, Rank{2}, {{0, 1}}, {});
    s.ranks[2].add(OpKind::recv, Rank{1}, {{0, 1}}, {});
    CHECK(first_violation(s) ==
          "rank 1, op 1 (send to 2): chunk 0: expected to depend on op 0 (recv), which uses the same "
          "chunk; found no chain of dependencies");
    // Sent first and received later: in order, but wrong.
    s.ranks[1] = {};
    const std::int32_t sent = s.ranks[1].add(OpKind::send, Rank{2}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}}, {sent});
    CHECK(first_violation(s) ==
          "rank 1, op 0 (send to 2): chunk 0: expected its data, found none: the rank has not received it");
}

TEST_CASE("two ranks that both send first deadlock when sends wait, and an exchange to reduce does not") {
    Schedule s = empty(Collective::allgather, 2);
    for (const std::int32_t r : {0, 1}) {
        RankSchedule& rank = s.ranks[static_cast<std::size_t>(r)];
        const std::int32_t sent = rank.add(OpKind::send, Rank{1 - r}, {{r, 1}}, {});
        rank.add(OpKind::recv, Rank{1 - r}, {{1 - r, 1}}, {sent});
    }
    CHECK(first_violation(s) ==
          "rank 0, op 0 (send to 1): deadlock: it never completes when sends wait for their receivers");

    s = empty(Collective::allreduce, 2);
    for (const std::int32_t r : {0, 1}) {
        RankSchedule& rank = s.ranks[static_cast<std::size_t>(r)];
        const std::int32_t sent = rank.add(OpKind::send, Rank{1 - r}, {{0, 1}}, {});
        rank.add(r == 0 ? OpKind::recv_reduce_right : OpKind::recv_reduce_left, Rank{1 - r}, {{0, 1}}, {sent});
    }
    CHECK(validate(s).ok());
    CHECK(validate(s).preserves_order);
}

TEST_CASE("a contribution added twice is caught even where a later one is missing") {
    Schedule s = empty(Collective::reduce, 3);
    for (const std::int32_t from : {1, 1}) {
        s.ranks[1].add(OpKind::send, Rank{0}, {{0, 1}}, {});
        const auto before = static_cast<std::int32_t>(s.ranks[0].ops.size());
        s.ranks[0].add(OpKind::recv_reduce_right, Rank{from}, {{0, 1}},
                       before > 0 ? std::vector{before - 1} : std::vector<std::int32_t>{});
    }
    CHECK(first_violation(s) ==
          "rank 0, op 1 (recv_reduce_right from 1): chunk 0: the contribution of rank 1 is added twice: "
          "received those of 1, had those of 0, 1");
}

TEST_CASE("all ranks of an allreduce must combine in the same tree") {
    // Rank 0 computes (0+1)+2 and gives it to rank 1; rank 2 computes (0+2)+1 on its own: equal only if + is
    // associative, which floating point is not.
    Schedule s = empty(Collective::allreduce, 3);
    const std::int32_t to_2 = s.ranks[0].add(OpKind::send, Rank{2}, {{0, 1}}, {});
    const std::int32_t with_1 = s.ranks[0].add(OpKind::recv_reduce_right, Rank{1}, {{0, 1}}, {to_2});
    const std::int32_t with_2 = s.ranks[0].add(OpKind::recv_reduce_right, Rank{2}, {{0, 1}}, {with_1});
    s.ranks[0].add(OpKind::send, Rank{1}, {{0, 1}}, {with_2});
    const std::int32_t to_0 = s.ranks[1].add(OpKind::send, Rank{0}, {{0, 1}}, {});
    const std::int32_t also_to_2 = s.ranks[1].add(OpKind::send, Rank{2}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}}, {to_0, also_to_2});
    const std::int32_t given = s.ranks[2].add(OpKind::send, Rank{0}, {{0, 1}}, {});
    const std::int32_t with_0 = s.ranks[2].add(OpKind::recv_reduce_left, Rank{0}, {{0, 1}}, {given});
    s.ranks[2].add(OpKind::recv_reduce_right, Rank{1}, {{0, 1}}, {with_0});
    CHECK(first_violation(s) ==
          "rank 2: chunk 0 at the end: expected the contributions combined in the same tree as on rank "
          "0, found another: results would not be identical");
}

TEST_CASE("a barrier must be held together by dependencies, not by luck") {
    // 0 signals 1, 1 signals 2, 2 signals 0 and so on around twice; without dependencies a signal is of its sender
    // alone.
    Schedule s = empty(Collective::barrier, 3);
    for (std::int32_t r = 0; r < 3; ++r) {
        RankSchedule& rank = s.ranks[static_cast<std::size_t>(r)];
        rank.add(OpKind::send, Rank{(r + 1) % 3}, {}, {});
        const std::int32_t heard = rank.add(OpKind::recv, Rank{(r + 2) % 3}, {}, {});
        rank.add(OpKind::send, Rank{(r + 1) % 3}, {}, {heard});
        rank.add(OpKind::recv, Rank{(r + 2) % 3}, {}, {});
    }
    CHECK(validate(s).ok());
    for (RankSchedule& rank : s.ranks) rank.ops[2].num_dependencies = 0;
    CHECK_FALSE(validate(s).ok());
}

TEST_CASE("a message without chunks keeps an order and moves nothing") {
    // 0 feeds 1, then 2: 1 signals that it has all.
    Schedule s = empty(Collective::bcast, 3);
    s.ranks[0].add(OpKind::send, Rank{1}, {{0, 1}}, {});
    const std::int32_t received = s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}}, {});
    s.ranks[1].add(OpKind::send, Rank{0}, {}, {received});
    const std::int32_t signal = s.ranks[0].add(OpKind::recv, Rank{1}, {}, {});
    s.ranks[0].add(OpKind::send, Rank{2}, {{0, 1}}, {signal});
    s.ranks[2].add(OpKind::recv, Rank{0}, {{0, 1}}, {});
    CHECK(first_violation(s) == "ok");
    // Waiting for each other is a deadlock with them too.
    s.ranks[0] = {};
    s.ranks[0].add(OpKind::recv, Rank{1}, {}, {});
    s.ranks[0].add(OpKind::send, Rank{1}, {{0, 1}}, {0});
    s.ranks[0].add(OpKind::send, Rank{2}, {{0, 1}}, {1});
    CHECK(first_violation(s) ==
          "rank 0, op 0 (recv from 1): deadlock: it never completes when sends wait for their receivers");
    // Nor does it bring data.
    s = empty(Collective::bcast, 2);
    s.ranks[0].add(OpKind::send, Rank{1}, {}, {});
    s.ranks[1].add(OpKind::recv, Rank{0}, {}, {});
    CHECK(first_violation(s) == "rank 1: chunk 0 at the end: expected its data, found none");
    s = empty(Collective::reduce, 2);
    s.ranks[1].add(OpKind::send, Rank{0}, {}, {});
    s.ranks[0].add(OpKind::recv_reduce_left, Rank{1}, {}, {});
    CHECK(first_violation(s) == "rank 0, op 0: it reduces no chunk");
}

TEST_CASE("malformed schedules are refused before anything walks them") {
    const Schedule good = collectives::emit(collectives::find_algorithm(Collective::bcast, "linear"), {3, 2}, {});
    Schedule s = good;
    s.ranks[0].ops[0].peer = Rank{3};
    CHECK(first_violation(s) == "rank 0, op 0: peer 3 is not a rank: expected 0 to 2");
    s = good;
    s.ranks[0].ops[1].peer = Rank{0};
    CHECK(first_violation(s) == "rank 0, op 1: the peer is the rank itself");
    s = good;
    s.ranks[0].ranges[0].count = 3;
    CHECK(first_violation(s) == "rank 0, op 0: chunks 0, count 3 are not within 0 to 1");
    s = good;
    s.ranks[1].ops[0].num_ranges = 9;
    CHECK(first_violation(s) == "rank 1, op 0: the range of its chunk list is broken");
    s = good;
    s.ranks[1].add(OpKind::recv, Rank{0}, {{0, 1}}, {1});
    CHECK(first_violation(s) == "rank 1, op 1: it depends on op 1: expected an op before it");
    s = good;
    s.ranks[1].ops[0].kind = OpKind::recv_reduce_left;
    CHECK(first_violation(s) == "rank 1, op 0: bcast has nothing to reduce: expected send or recv");
    s = good;
    s.root = Rank{-1};
    CHECK(first_violation(s) == "root -1 is not a rank: expected 0 to 2");
    s = good;
    s.segments = 0;
    CHECK(first_violation(s) == "segments is 0: expected at least 1");
    s = good;
    s.num_ranks = 4;
    CHECK(first_violation(s) == "operations of 3 ranks: expected 4");
}

TEST_CASE("64 ranks and 64 segments are checked in seconds") {
    for (const auto& [collective, name] :
         {std::pair{Collective::allreduce, "ring"}, std::pair{Collective::bcast, "binomial"},
          std::pair{Collective::alltoall, "bruck"}}) {
        const Schedule schedule = collectives::emit(collectives::find_algorithm(collective, name), {64, 64}, {});
        CHECK(validate(schedule).ok());
    }
}
