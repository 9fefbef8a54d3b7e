// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hocket/base/error.hpp"
#include "hocket/schedule/validate.hpp"
#include "hocket/search/edge_coloring.hpp"
#include "hocket/search/phases.hpp"
#include "random_networks.hpp"

using namespace hocket;
using namespace hocket::search;

namespace {

std::vector<Rank> all_ranks(const Network& network) {
    std::vector<Rank> ranks;
    for (std::int32_t r = 0; r < network.num_ranks(); ++r) ranks.emplace_back(r);
    return ranks;
}

/// Messages on the busiest directed link when everybody sends to everybody, counted route by route.
std::size_t bottleneck(const Network& network, const std::vector<Rank>& members) {
    std::vector<std::size_t> messages(network.links().size(), 0);
    for (const Rank a : members)
        for (const Rank b : members)
            for (const LinkId l : network.route(a, b)) ++messages[l.at()];
    return std::max(members.size() - 1, messages.empty() ? 0 : *std::max_element(messages.begin(), messages.end()));
}

void check_phases(const Network& network, const std::vector<Rank>& members) {
    const auto phases = contention_free_phases(network, members);
    CHECK(phases.size() == bottleneck(network, members));
    std::set<Message> sent;
    for (const auto& phase : phases) {
        std::set<LinkId> used;
        std::set<Rank> sources, targets;
        for (const Message& message : phase) {
            CHECK(sent.insert(message).second);
            CHECK(sources.insert(message.source).second);
            CHECK(targets.insert(message.target).second);
            for (const LinkId l : network.route(members[message.source.at()], members[message.target.at()]))
                CHECK(used.insert(l).second);
        }
    }
    CHECK(sent.size() == members.size() * (members.size() - 1));
    const auto num_ranks = static_cast<std::int32_t>(members.size());
    const Validation validation = validate(alltoall_in_phases(num_ranks, phases));
    CHECK_MESSAGE(validation.ok(), validation.violations.front());
}

}  // namespace

TEST_CASE("edges of random bipartite multigraphs get as many colours as the largest degree") {
    base::Random random(5);
    for (int sample = 0; sample < 200; ++sample) {
        const auto left = static_cast<std::int32_t>(1 + random.below(8));
        const auto right = static_cast<std::int32_t>(1 + random.below(8));
        std::vector<BipartiteEdge> edges(static_cast<std::size_t>(random.below(60)));
        std::vector<std::int32_t> degree(static_cast<std::size_t>(left + right), 0);
        for (BipartiteEdge& edge : edges) {
            edge = {static_cast<std::int32_t>(random.below(left)), static_cast<std::int32_t>(random.below(right))};
            ++degree[static_cast<std::size_t>(edge.left)];
            ++degree[static_cast<std::size_t>(left + edge.right)];
        }
        const auto colors = edge_coloring(left, right, edges);
        std::set<std::pair<std::int32_t, std::int32_t>> at_node;
        for (std::size_t e = 0; e < edges.size(); ++e) {
            CHECK(colors[e] >= 0);
            CHECK(colors[e] < *std::max_element(degree.begin(), degree.end()));
            CHECK(at_node.insert({edges[e].left, colors[e]}).second);
            CHECK(at_node.insert({left + edges[e].right, colors[e]}).second);
        }
    }
}

TEST_CASE("phases on a star, two clusters and a tree of switches") {
    for (const char* kind : {"star:1", "star:2", "star:9", "two-clusters:4+4", "two-clusters:7+2", "tree:3x2x2"}) {
        CAPTURE(kind);
        const Network network = examples::generated(kind);
        check_phases(network, all_ranks(network));
    }
}

TEST_CASE("phases on random trees, of some of the ranks in any order") {
    base::Random random(11);
    for (int sample = 0; sample < 400; ++sample) {
        CAPTURE(sample);
        const auto num_ranks = static_cast<std::int32_t>(1 + random.below(18));
        const Network network =
            examples::random_tree(random, static_cast<std::int32_t>(1 + random.below(12)), num_ranks);
        std::vector<Rank> members = all_ranks(network);
        for (std::size_t i = members.size(); i-- > 1;)
            std::swap(members[i], members[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
        members.resize(static_cast<std::size_t>(1 + random.below(num_ranks)));
        check_phases(network, members);
    }
}

TEST_CASE("phases are refused where they do not exist") {
    const Network torus = examples::generated("torus:3x3");
    CHECK_THROWS_AS(contention_free_phases(torus, all_ranks(torus)), InvalidInput);
    const Network star = examples::generated("star:3");
    CHECK_THROWS_AS(contention_free_phases(star, {}), InvalidInput);
    CHECK_THROWS_AS(contention_free_phases(star, std::vector{Rank{1}, Rank{1}}), InvalidInput);
    CHECK_THROWS_AS(contention_free_phases(star, std::vector{Rank{3}}), InvalidInput);
}
