// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include "hocket/search/paper_search.hpp"
#include "hocket/search/subtree_labels.hpp"
#include "trees.hpp"

using namespace hocket;
using namespace hocket::search;

namespace {

BroadcastResult paper(const Tree& tree, PaperCuts cuts) {
    const std::int32_t root = 0;
    PaperOptions options;
    options.cuts = cuts;
    BroadcastResult result = paper_broadcast(tree, {&root, 1}, options);
    CHECK(result.optimal);
    CHECK(faults_of(tree, {&root, 1}, result.transfers) == "");
    return result;
}

constexpr PaperCuts all_cuts[] = {PaperCuts::none, PaperCuts::sender, PaperCuts::receiver, PaperCuts::both};

}  // namespace

TEST_CASE("the published search finds the published optima, and its cuts save nodes where they are expected to") {
    using examples::fast_ethernet, examples::gigabit, examples::two_clusters;
    const auto num_nodes = [](const Tree& tree, PaperCuts cuts) { return paper(tree, cuts).num_nodes; };
    const Tree star = examples::star(8), cluster = examples::dual(6), clusters = two_clusters(3, gigabit, gigabit);
    for (const Tree* tree : {&star, &cluster, &clusters}) {
        const std::int64_t none = num_nodes(*tree, PaperCuts::none), receiver = num_nodes(*tree, PaperCuts::receiver);
        CHECK(receiver * 10 < none);
        CHECK(num_nodes(*tree, PaperCuts::both) <= receiver);
        CHECK(num_nodes(*tree, PaperCuts::sender) <= none);
    }
    for (const auto& [tree, ms] : {std::pair{&star, 30.3}, {&cluster, 32.5}, {&clusters, 32.5}})
        CHECK(static_cast<double>(paper(*tree, PaperCuts::both).makespan_ns) * 1e-6 ==
              doctest::Approx(ms).epsilon(1e-4));
    const Tree unequal = two_clusters(3, fast_ethernet, fast_ethernet);
    CHECK(static_cast<double>(paper(unequal, PaperCuts::both).makespan_ns) * 1e-6 ==
          doctest::Approx(184.3).epsilon(1e-4));
}

TEST_CASE("the published search is as fast as trying all") {
    base::Random random(2004);
    for (std::int64_t i = 0; i < 300; ++i) {
        CAPTURE(i);
        const Tree tree = examples::random_tree(random, static_cast<std::int32_t>(2 + random.below(4)));
        const std::int32_t root = 0;
        const std::int64_t best = fastest_broadcast_by_exhaustion(tree, {&root, 1});
        for (const PaperCuts cuts : all_cuts) REQUIRE(paper(tree, cuts).makespan_ns == best);
    }
}

TEST_CASE("subtrees have the same label when they are isomorphic") {
    const Tree tree = examples::dual(3);  // switch 0; nodes 1, 4, 7 with processors at 2, 3, 5, 6, 8, 9
    SubtreeLabels labels(tree);
    labels.label(0, [](std::int32_t) { return 0; });
    CHECK(labels.same(1, 4));
    CHECK(labels.same(2, 9));
    labels.label(0, [](std::int32_t v) { return v == 5 ? 1 : 0; });
    CHECK_FALSE(labels.same(1, 4));
    CHECK(labels.same(1, 7));
    CHECK_FALSE(labels.same(5, 6));
    CHECK(labels.parent(5) == 4);
}
