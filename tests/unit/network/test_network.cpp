// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../simulation/examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/routing.hpp"
#include "paths.hpp"

using namespace hocket;
using examples::check_route;

namespace {

Network generated(const char* text) { return network::build(network::generate(text)); }

/// Hosts 0 .. 5 in a ring of cables: not a tree.
Network ring_of_hosts() {
    network::Blueprint blueprint;
    blueprint.name = "ring";
    for (std::int32_t i = 0; i < 6; ++i) {
        blueprint.nodes.push_back({"h" + std::to_string(i)});
        blueprint.cables.push_back({i, (i + 1) % 6, 1, 1});
    }
    return network::build(blueprint);
}

}  // namespace

TEST_CASE("generators give the networks they are named for") {
    CHECK(generated("star:16").num_ranks() == 16);
    CHECK(generated("star:16").links().size() == 32);
    CHECK(generated("two-clusters:4+4").nodes().size() == 10);
    CHECK(generated("two-clusters:4+4").is_tree());
    const Network tree = generated("tree:4x3x2");
    CHECK(tree.num_ranks() == 24);
    CHECK(tree.nodes().size() == 24 + 1 + 4 + 12);
    CHECK(tree.is_tree());
    CHECK_FALSE(generated("fat-tree:2x2x4").is_tree());
    CHECK(generated("fat-tree:4").is_tree());
}

TEST_CASE("the fat trees of [Suzuki] have the sizes printed there") {
    struct Size {
        const char* text;
        std::int32_t hosts;
        std::size_t cables;
    };
    for (const Size& size : {Size{"fat-tree:8x8x16", 1024, 3072}, Size{"fat-tree:12x12x24", 3456, 10368}}) {
        const Network n = generated(size.text);
        CHECK(n.num_ranks() == size.hosts);
        CHECK(n.links().size() == 2 * size.cables);
        // Every switch of n x n x 2n has 2n ports.
        for (std::size_t node = static_cast<std::size_t>(size.hosts); node < n.nodes().size(); ++node)
            CHECK(n.links_from(NodeId{static_cast<std::int32_t>(node)}).size() == (size.hosts == 1024 ? 16 : 24));
    }
}

TEST_CASE("routes join their ends and are shortest") {
    for (const char* text : {"star:5", "two-clusters:3+2", "tree:2x3x2", "fat-tree:2x2x4", "fat-tree:3x2x4",
                             "fat-tree:2x3x2x2", "fat-tree:3x4"}) {
        CAPTURE(text);
        const Network n = generated(text);
        const auto general = network::make_shortest_path_router(n.nodes(), n.links());
        for (std::int32_t a = 0; a < n.num_ranks(); ++a) {
            const auto distance = examples::distances(n, Rank{a});
            for (std::int32_t b = 0; b < n.num_ranks(); ++b) {
                const auto route = n.route(Rank{a}, Rank{b});
                check_route(n, Rank{a}, Rank{b}, route);
                REQUIRE(route.size() == distance[n.node_of(Rank{b}).at()]);
                std::vector<LinkId> other;
                if (a != b) general->route(n.node_of(Rank{a}), n.node_of(Rank{b}), other);
                check_route(n, Rank{a}, Rank{b}, other);
                if (n.is_tree()) REQUIRE(other == route);  // a tree has one path only
            }
        }
    }
}

TEST_CASE("on a general network equal paths go by the smaller node") {
    const Network n = ring_of_hosts();
    CHECK_FALSE(n.is_tree());
    const auto nodes_to_3 = [&] {
        std::vector<std::int32_t> nodes;
        for (const LinkId l : n.route(Rank{0}, Rank{3})) nodes.push_back(n.link(l).target.value);
        return nodes;
    }();
    CHECK(nodes_to_3 == std::vector<std::int32_t>{1, 2, 3});  // and not 5, 4, 3
    CHECK(n.route(Rank{0}, Rank{4}).size() == 2);
}

TEST_CASE("d-mod-k spreads the destinations over all roots, and a shift has every link to itself") {
    // With d-mod-k every shift permutation i -> i + s crosses each link of a full fat tree at most once [Zahavi09].
    const Network n = generated("fat-tree:4x4x8");
    for (const std::int32_t shift : {1, 4, 7, 16, 33, 64}) {
        CAPTURE(shift);
        std::vector<std::int32_t> uses(n.links().size(), 0);
        for (std::int32_t i = 0; i < n.num_ranks(); ++i)
            for (const LinkId l : n.route(Rank{i}, Rank{(i + shift) % n.num_ranks()})) ++uses[l.at()];
        CHECK(*std::max_element(uses.begin(), uses.end()) == 1);
    }
}

TEST_CASE("a chain in depth-first order crosses each directed link of a tree at most once") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const Network n = network::build(examples::random_tree(random, 8));
        const Rank start{static_cast<std::int32_t>(random.below(n.num_ranks()))};
        const auto order = n.depth_first_order(start);
        REQUIRE(order.size() == static_cast<std::size_t>(n.num_ranks()));
        CHECK(std::set(order.begin(), order.end()).size() == order.size());
        CHECK(n.host_of(order[0]) == n.host_of(start));
        std::vector<std::int32_t> uses(n.links().size(), 0);
        for (std::size_t i = 0; i < order.size(); ++i)  // around: the cycle crosses each link at most once, too
            for (const LinkId l : n.route(order[i], order[(i + 1) % order.size()])) ++uses[l.at()];
        CHECK(*std::max_element(uses.begin(), uses.end()) <= 1);
    }
    const Network ring = ring_of_hosts();
    const auto order = ring.depth_first_order(Rank{2});
    CHECK(order == std::vector{Rank{2}, Rank{1}, Rank{0}, Rank{5}, Rank{4}, Rank{3}});
}

TEST_CASE("a network is checked when it is made") {
    const std::vector<Node> nodes{{"a"}, {"b"}, {"s", NodeKind::switch_}};
    const auto make = [&](std::vector<Link> links, std::vector<NodeId> ranks) {
        return Network("x", nodes, links, ranks);
    };
    const NodeId a{0}, b{1}, s{2};
    const Link there{a, b, 1, 0, 0}, back{b, a, 1, 0, 1};
    CHECK(make({there, back}, {a, b}).is_tree());
    CHECK_THROWS_AS(make({there, back}, {}), InvalidInput);
    CHECK_THROWS_AS(make({there}, {a, b}), InvalidInput);  // no way back
    CHECK_THROWS_AS(make({there, back}, {a, s}), InvalidInput);
    CHECK_THROWS_AS(make({there, back}, {a, NodeId{3}}), InvalidInput);
    CHECK_THROWS_AS(make({there, back}, {a, NodeId{}}), InvalidInput);
    CHECK_THROWS_AS(make({{a, NodeId{7}, 1, 0, 0}}, {a}), InvalidInput);
    CHECK_THROWS_AS(make({{a, a, 1, 0, 0}}, {a}), InvalidInput);
    for (const double bandwidth : {0.0, -1.0, std::nan("")})
        CHECK_THROWS_AS(make({{a, b, bandwidth, 0, 0}}, {a}), InvalidInput);
    for (const double latency : {-1.0, HUGE_VAL, std::nan("")})
        CHECK_THROWS_AS(make({{a, b, 1, latency, 0}}, {a}), InvalidInput);
    CHECK_THROWS_AS(make({{a, b, 1, 0, 5}}, {a}), InvalidInput);
    CHECK_THROWS_AS(make({{a, b, 1, 0, 0}, {a, s, 1, 0, 0}}, {a}), InvalidInput);  // capacity of unrelated links
    CHECK_THROWS_AS(make({there, {b, a, 2, 0, 0}}, {a, b}), InvalidInput);         // of unequal bandwidth
    CHECK(make({there, {b, a, 1, 0, 0}}, {a, b}).num_capacities() == 1);
    CHECK(make({}, {a}).is_tree());
    CHECK(make({}, {a}).route(Rank{0}, Rank{0}).empty());
    CHECK_FALSE(make({there, back, {a, b, 1, 0, 2}, {b, a, 1, 0, 3}}, {a, b}).is_tree());  // two parallel cables
}
