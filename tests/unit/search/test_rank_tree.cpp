// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"
#include "hocket/search/rank_tree.hpp"

using namespace hocket;
using namespace hocket::search;

TEST_CASE("broadcasts down split trees and their reversals are right") {
    base::Random random(7);
    for (const std::int32_t n : {1, 2, 3, 7, 16, 33})
        for (const std::int32_t fanout : {1, 2, 3, 40})
            for (const std::int32_t segments : {1, 4}) {
                CAPTURE(n);
                CAPTURE(fanout);
                std::vector<Rank> order;
                for (std::int32_t r = 0; r < n; ++r) order.emplace_back(r);
                for (std::size_t i = order.size(); i-- > 1;)
                    std::swap(order[i],
                              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
                const auto children = split_tree(order, fanout);
                for (const auto& of_rank : children) CHECK(of_rank.size() <= static_cast<std::size_t>(fanout));
                const Schedule bcast = bcast_down(children, order.front(), segments);
                CHECK(validate(bcast).ok());
                const Schedule reduce = reversed(bcast);
                CHECK(reduce.collective == Collective::reduce);
                CHECK(reduce.root == bcast.root);
                CHECK(validate(reduce).ok());
            }
}

TEST_CASE("a split tree of fanout 1 is the pipelined chain") {
    const std::vector<Rank> order = {Rank{2}, Rank{0}, Rank{3}, Rank{1}};
    Schedule bcast = bcast_down(split_tree(order, 1), order.front(), 3);
    bcast.algorithm = "pipelined_chain";
    const auto& chain = collectives::find_algorithm(Collective::bcast, "pipelined_chain");
    CHECK(bcast == collectives::emit(chain, {4, 3}, {Rank{2}, order}));
}

TEST_CASE("split trees of fanout 2 and 3 are algorithms, which need no list of their ranks") {
    const std::vector<Rank> order = {Rank{2}, Rank{0}, Rank{3}, Rank{1}, Rank{6}, Rank{4}, Rank{5}, Rank{8}, Rank{7}};
    for (const std::int32_t fanout : {2, 3}) {
        const auto& algorithm =
            collectives::find_algorithm(Collective::bcast, fanout == 2 ? "binary_tree" : "ternary_tree");
        for (std::size_t p = 1; p <= order.size(); ++p) {
            std::vector<Rank> first;
            for (const Rank rank : order)
                if (rank.at() < p) first.push_back(rank);
            Schedule bcast = bcast_down(split_tree(first, fanout), first.front(), 3);
            bcast.algorithm = algorithm.name;
            CHECK(bcast == collectives::emit(algorithm, {static_cast<std::int32_t>(p), 3}, {first.front(), first}));
        }
    }
}

TEST_CASE("every textbook broadcast and scatter can be reversed") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        if (algorithm.collective != Collective::bcast && algorithm.collective != Collective::scatter) continue;
        if (algorithm.name.starts_with("scatter_")) continue;  // ranks get chunks twice removed: no tree per chunk
        if (algorithm.name.ends_with("_in_turn")) continue;    // the answers carry nothing to reduce
        for (const std::int32_t n : {1, 2, 5, 8, 13}) {
            CAPTURE(algorithm.name);
            CAPTURE(n);
            const Schedule forward = collectives::emit(algorithm, {n, algorithm.pipelines ? 3 : 1}, {Rank{n / 2}, {}});
            const Validation validation = validate(reversed(forward));
            CHECK_MESSAGE(validation.ok(), validation.violations.front());
        }
    }
    const auto& ring = collectives::find_algorithm(Collective::allgather, "ring");
    CHECK_THROWS_AS(reversed(collectives::emit(ring, {4, 1}, {})), InvalidInput);
}

TEST_CASE("what is not a tree is refused") {
    const std::vector<std::vector<Rank>> twice = {{Rank{1}, Rank{1}}, {}}, lost = {{}, {}},
                                         circle = {{Rank{1}}, {Rank{0}}};
    CHECK_THROWS_AS(bcast_down(twice, Rank{0}, 1), InvalidInput);
    CHECK_THROWS_AS(bcast_down(lost, Rank{0}, 1), InvalidInput);
    CHECK_THROWS_AS(bcast_down(circle, Rank{0}, 1), InvalidInput);
    CHECK_THROWS_AS(bcast_down(circle, Rank{2}, 1), InvalidInput);
    CHECK_THROWS_AS(bcast_down(lost, Rank{0}, 0), InvalidInput);
    CHECK_THROWS_AS(split_tree(std::vector{Rank{0}}, 0), InvalidInput);
}

TEST_CASE("merged chains and rings are right and share the segments") {
    base::Random random(9);
    for (const auto& [collective, name] : {std::pair{Collective::bcast, "pipelined_chain"},
                                           {Collective::reduce, "pipelined_chain"},
                                           {Collective::allgather, "ring"},
                                           {Collective::reduce_scatter_block, "ring"},
                                           {Collective::allreduce, "ring"}})
        for (const std::int32_t n : {2, 3, 6}) {
            std::vector<Schedule> parts;
            for (int s = 0; s < 3; ++s) {
                std::vector<Rank> order;
                for (std::int32_t r = 0; r < n; ++r) order.emplace_back(r);
                for (std::size_t i = order.size(); i-- > 1;)
                    std::swap(order[i],
                              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
                parts.push_back(
                    collectives::emit(collectives::find_algorithm(collective, name), {n, 2}, {Rank{0}, order}));
            }
            const Schedule together = merged(parts);
            CHECK(together.segments == 3 * parts.front().segments);
            const Validation validation = validate(together);
            CHECK_MESSAGE(validation.ok(), validation.violations.front());
            CHECK(merged({parts.data(), 1}) == parts.front());
            parts.pop_back();
            parts.back().segments = 1;
            CHECK_THROWS_AS(merged(parts), InvalidInput);
        }
    CHECK_THROWS_AS(merged({}), InvalidInput);
}

TEST_CASE("the binomial tree in turn is the binomial tree with sends one at a time") {
    for (const Collective collective : {Collective::bcast, Collective::scatter})
        for (std::int32_t n = 1; n <= 40; ++n) {
            CAPTURE(n);
            // Segments of a broadcast by the binomial tree are messages of their own.
            const std::int32_t segments = collective == Collective::bcast ? 1 : 3;
            const auto& at_once = collectives::find_algorithm(collective, "binomial");
            const auto& in_turn = collectives::find_algorithm(collective, "binomial_in_turn");
            CHECK(collectives::emit(in_turn, {n, segments}, {Rank{n / 2}, {}}).ranks ==
                  one_send_at_a_time(collectives::emit(at_once, {n, segments}, {Rank{n / 2}, {}})).ranks);
        }
}

TEST_CASE("sends one at a time") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        if (algorithm.collective != Collective::bcast && algorithm.collective != Collective::scatter) continue;
        if (algorithm.name.starts_with("scatter_") || algorithm.name.ends_with("_in_turn")) continue;
        for (const std::int32_t n : {1, 2, 6, 16}) {
            CAPTURE(algorithm.name);
            const Schedule before = collectives::emit(algorithm, {n, algorithm.pipelines ? 3 : 1}, {Rank{n - 1}, {}});
            const Schedule after = one_send_at_a_time(before);
            const Validation validation = validate(after);
            CHECK_MESSAGE(validation.ok(), validation.violations.front());
            for (std::size_t r = 0; r < after.ranks.size(); ++r) {
                const RankSchedule& part = after.ranks[r];
                std::optional<Rank> target;
                std::int32_t answer = -1, messages = 0;
                for (std::int32_t i = 0; i < static_cast<std::int32_t>(part.ops.size()); ++i) {
                    const Op& op = part.ops[static_cast<std::size_t>(i)];
                    const bool empty = op.num_ranges == 0;
                    if (op.kind == OpKind::recv && empty) {
                        CHECK(op.peer == target);
                        answer = i;
                    }
                    if (op.kind != OpKind::send || empty) continue;
                    const auto waits = part.dependencies_of(op);
                    CHECK((!target || std::find(waits.begin(), waits.end(), answer) != waits.end()));
                    target = op.peer;
                    ++messages;
                }
                const auto is_answer = [](const Op& op) { return op.kind == OpKind::recv && op.num_ranges == 0; };
                CHECK(std::count_if(part.ops.begin(), part.ops.end(), is_answer) == std::max(0, messages - 1));
            }
        }
    }
    const auto& ring = collectives::find_algorithm(Collective::allgather, "ring");
    CHECK_THROWS_AS(one_send_at_a_time(collectives::emit(ring, {4, 1}, {})), InvalidInput);
}
