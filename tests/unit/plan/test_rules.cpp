// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/plan/plan.hpp"
#include "hocket/schedule/validate.hpp"

using namespace hocket;

namespace {

const collectives::Algorithm& binomial() { return collectives::find_algorithm(Collective::bcast, "binomial"); }

PlanEntry entry(std::int64_t low, std::int64_t high, std::optional<Rank> root = {},
                std::vector<std::int32_t> members = {0, 1, 2, 3}) {
    const auto size = static_cast<std::int32_t>(members.size());
    return {Collective::bcast, std::move(members), low, high, root, PlannedSchedule(binomial(), size)};
}

template <class Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return "accepted";
}

std::string refusal(const std::vector<PlanEntry>& entries) {
    return refusal([&] { Plan(8, "n", entries); });
}

}  // namespace

TEST_CASE("an entry serves its collective, members in their order, sizes and root") {
    PlanEntry rooted = entry(10, 20, Rank{2});
    rooted.other_members = {{7, 6, 5, 4}};
    const Plan plan(8, "n", {rooted});
    const auto serves = [&](Collective collective, std::vector<std::int32_t> members, std::int64_t bytes, int root) {
        return entry_for(plan, collective, members, bytes, root) == &plan.entries()[0];
    };
    CHECK(serves(Collective::bcast, {0, 1, 2, 3}, 10, 2));
    CHECK(serves(Collective::bcast, {0, 1, 2, 3}, 20, 2));
    CHECK(serves(Collective::bcast, {7, 6, 5, 4}, 15, 2));
    CHECK_FALSE(serves(Collective::reduce, {0, 1, 2, 3}, 15, 2));
    CHECK_FALSE(serves(Collective::bcast, {1, 0, 2, 3}, 15, 2));
    CHECK_FALSE(serves(Collective::bcast, {0, 1, 2}, 15, 2));
    CHECK_FALSE(serves(Collective::bcast, {0, 1, 2, 3}, 9, 2));
    CHECK_FALSE(serves(Collective::bcast, {0, 1, 2, 3}, 21, 2));
    CHECK_FALSE(serves(Collective::bcast, {0, 1, 2, 3}, 15, 1));
}

TEST_CASE("an entry that names the root goes before, wherever it stands") {
    for (const bool named_first : {false, true}) {
        const PlanEntry any = entry(0, 100), named = entry(50, 60, Rank{1});
        const Plan plan(8, "n", named_first ? std::vector{named, any} : std::vector{any, named});
        const std::vector<std::int32_t> members = {0, 1, 2, 3};
        CHECK(entry_for(plan, Collective::bcast, members, 55, 1)->root == Rank{1});
        CHECK_FALSE(entry_for(plan, Collective::bcast, members, 55, 2)->root);
        CHECK_FALSE(entry_for(plan, Collective::bcast, members, 61, 1)->root);
    }
    CHECK(entry_for(Plan(), Collective::bcast, std::vector{0}, 0, 0) == nullptr);
}

TEST_CASE("segments that are many and tiny are refused, many large ones and few tiny ones are not") {
    const collectives::Algorithm& chain = collectives::find_algorithm(Collective::bcast, "pipelined_chain");
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    const auto cut = [&](std::int64_t bytes, std::int64_t segments, std::optional<std::int64_t> segment_bytes) {
        PlanEntry one = entry(0, bytes);
        one.schedule = PlannedSchedule(chain, 4, segments, segment_bytes);
        return refusal({one});
    };
    const auto refuses = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(refuses(cut(1'000'000, 300'000, {}),
                  "segments is 300000, which cuts 1000000 B into 300000 segments; accepted: at most 4096, or segments "
                  "of at least 64 B"));
    CHECK(refuses(cut(1'000'000, 1, 1), "segment_bytes is 1, which cuts 1000000 B"));
    CHECK(refuses(cut(any, 1, 1), "segment_bytes is 1, which"));
    CHECK(refuses(cut(4097 * 64 - 1, 4097, {}), "segments is 4097"));
    CHECK(cut(4097 * 64, 4097, {}) == "accepted");
    CHECK(cut(8, 4096, {}) == "accepted");
    CHECK(cut(4000, 1, 1) == "accepted");
    CHECK(cut(1'000'000, 1, 64) == "accepted");
    CHECK(cut(any, 1, 4096) == "accepted");
}

TEST_CASE("of two entries for the same calls both are named") {
    CHECK(refusal({entry(20, 29), entry(0, 9), entry(10, 19)}) == "accepted");
    CHECK(refusal({entry(0, 99, Rank{1}), entry(0, 99, Rank{2}), entry(50, 60)}) == "accepted");
    CHECK(refusal({entry(0, 99), entry(0, 99, {}, {0, 1, 3, 2})}) == "accepted");
    CHECK(refusal({entry(9, 20), entry(0, 9), entry(21, 29)}) == "entries[1] serves calls that entries[0] serves too");
    // The long one reaches over its neighbour to a third.
    CHECK(refusal({entry(0, 99), entry(10, 19, Rank{0}), entry(50, 60)}) ==
          "entries[2] serves calls that entries[0] serves too");
    PlanEntry two = entry(0, 9);
    two.other_members = {{4, 5, 6, 7}};
    CHECK(refusal({entry(5, 6, {}, {4, 5, 6, 7}), two}) == "entries[1] serves calls that entries[0] serves too");
    two.other_members = {{0, 1, 2, 3}};
    CHECK(refusal({two}) == "entries[0] serves calls that entries[0] serves too");
}

TEST_CASE("what does not fit in an entry is refused by its key") {
    const auto changed = [](auto change) {
        PlanEntry one = entry(10, 20, Rank{0});
        change(one);
        return refusal({one});
    };
    CHECK(changed([](PlanEntry& e) { e.members = {0, 1, 2, 8}; }) ==
          "entries[0]: members holds 8; accepted: ranks from 0 to 7");
    CHECK(changed([](PlanEntry& e) { e.members = {0, 1, 2, 1}; }) == "entries[0]: members holds rank 1 twice");
    CHECK(changed([](PlanEntry& e) { e.other_members = {{4, 5, 6}}; }) ==
          "entries[0]: other_members[0] has 3 ranks; members has 4");
    CHECK(changed([](PlanEntry& e) { e.bytes_min = 21; }) ==
          "entries[0]: bytes_max is 20; accepted: a whole number from 21 to 9223372036854775807");
    CHECK(changed([](PlanEntry& e) { e.root = Rank{4}; }) ==
          "entries[0]: root is 4; accepted: a whole number from 0 to 3");
    CHECK(changed([](PlanEntry& e) { e.members = {0, 1, 2}; }) ==
          "entries[0]: schedule: binomial is a bcast of 4 ranks; the entry needs a bcast of 3");
    CHECK(changed([](PlanEntry& e) { e.collective = Collective::reduce; }) ==
          "entries[0]: schedule: binomial is a bcast of 4 ranks; the entry needs a reduce of 4");
    CHECK(changed([](PlanEntry& e) { e.tuned_s = -0.5; }) ==
          "entries[0]: tuned_s is -0.5; accepted: seconds, not negative, or null");
    CHECK(changed([](PlanEntry& e) { e.evidence = Evidence{"an MPI", 0, 1, 1, {1, 1}}; }) ==
          "entries[0]: evidence: launches is 0; accepted: a whole number from 1 to 2147483647");
    CHECK(changed([](PlanEntry& e) {
              e.schedule = PlannedSchedule(collectives::emit(binomial(), {4}, {Rank{1}, {}}));
          }) == "entries[0]: schedule: custom has root 1, but the entry's root is 0");
    CHECK(refusal([] { Plan(0, "n", {}); }) == "ranks is 0; accepted: a whole number from 1 to 2147483647");
    CHECK(refusal([] { Plan(2, "n", {}, {}, "always"); }) == "progress is \"always\"; accepted: off, on, auto");
    CHECK(refusal([] { Plan(2, "n", {}, {}, "on", {"a"}); }) ==
          "hosts is [\"a\"]; accepted: a list of 2 texts, one for each rank");
}

TEST_CASE("a planned schedule is checked when it is made") {
    const auto& chain = collectives::find_algorithm(Collective::bcast, "pipelined_chain");
    CHECK(refusal([&] { PlannedSchedule(chain, 4, 0); }) ==
          "segments is 0; accepted: a whole number from 1 to 2147483647");
    CHECK(refusal([&] { PlannedSchedule(chain, 4, 2, 100); }) == "it has both segments and segment_bytes; give one");
    CHECK(refusal([&] { PlannedSchedule(chain, 3, 1, {}, {Rank{0}, Rank{1}}); }) ==
          "order has 2 ranks; it must hold each of 0 to 2 once");
    CHECK(refusal([&] { PlannedSchedule(chain, 2, 1, {}, {Rank{0}, Rank{2}}); }) ==
          "order holds 2; accepted: ranks from 0 to 1");
    CHECK(refusal([&] { PlannedSchedule(chain, 4, 1 << 30); }).find("comes to more than") != std::string::npos);
    Schedule wrong = collectives::emit(binomial(), {4}, {});
    wrong.ranks[0].ops.pop_back();  // the root forgets a send
    CHECK(refusal([&] { PlannedSchedule{wrong}; }).starts_with("custom is wrong: "));
}

TEST_CASE("what is said to keep the order of ranks does, and what always does is said to") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        if (!combines(algorithm.collective)) continue;
        for (std::int32_t p = 1; p <= 5; ++p) {
            std::vector<Rank> order(static_cast<std::size_t>(p));
            for (std::size_t i = 0; i < order.size(); ++i) order[i] = Rank{static_cast<std::int32_t>(i)};
            do {
                const PlannedSchedule planned(algorithm, p, 1, {}, order);
                for (std::int32_t root = 0; root < (is_rooted(algorithm.collective) ? p : 1); ++root) {
                    const bool found = validate(whole_schedule(planned, Rank{root}, 1)).preserves_order;
                    INFO(name_of(algorithm.collective), " ", algorithm.name, " ", p, " ", root);
                    if (algorithm.preserves_order || p == 1)
                        CHECK(planned.preserves_order(Rank{root}) == found);
                    else
                        CHECK_FALSE(planned.preserves_order(Rank{root}));
                    if (found)
                        CHECK(PlannedSchedule(whole_schedule(planned, Rank{root}, 1)).preserves_order(Rank{root}));
                }
            } while (std::ranges::next_permutation(order, {}, &Rank::value).found);
        }
        CHECK(PlannedSchedule(algorithm, 4).preserves_order(Rank{0}) == algorithm.preserves_order);
    }
}

TEST_CASE("segments in bytes decide on the segments of a call") {
    // 10000 bytes are 3 segments of at most 4096.
    const PlannedSchedule planned(collectives::find_algorithm(Collective::bcast, "pipelined_chain"), 2, 1, 4096);
    CHECK(segments_of(planned, 0) == 1);
    CHECK(segments_of(planned, 4096) == 1);
    CHECK(segments_of(planned, 10000) == 3);
    CHECK(whole_schedule(planned, Rank{0}, 3).segments == 3);
    const PlannedPart part = part_of(planned, Rank{0}, Rank{1}, 3);
    CHECK(part.segments == 3);
    CHECK(part.schedule == whole_schedule(planned, Rank{0}, 3).ranks[1]);
}

TEST_CASE("a plan for another number of ranks is refused in one message") {
    CHECK(refusal([] { require_ranks_of_program(8, 8, "p"); }) == "accepted");
    CHECK(refusal([] { require_ranks_of_program(8, 4, "p"); }) == "p is for 8 ranks, but the command starts 4");
}
