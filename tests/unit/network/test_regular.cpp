// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

#include "hocket/base/random.hpp"
#include "hocket/network/fabric.hpp"
#include "paths.hpp"

using namespace hocket;
using namespace hocket::examples;

namespace {

Network generated(const std::string& text, network::GenerateOptions options = {}) {
    return network::generate_network(text, options);
}

/// Cables at each host, and at each switch.
std::pair<std::set<std::size_t>, std::set<std::size_t>> degrees(const Network& n) {
    std::pair<std::set<std::size_t>, std::set<std::size_t>> degrees;
    for (std::size_t node = 0; node < n.nodes().size(); ++node)
        (n.nodes()[node].kind == NodeKind::host ? degrees.first : degrees.second)
            .insert(n.links_from(NodeId{static_cast<std::int32_t>(node)}).size());
    return degrees;
}

/// Each route is a path of `length(a, b)` links and, if `shortest`, no path is shorter.
template <class Length>
void check_all_routes(const Network& n, bool shortest, Length length) {
    CAPTURE(n.name());
    for (std::int32_t a = 0; a < n.num_ranks(); ++a) {
        const auto distance = distances(n, Rank{a});
        for (std::int32_t b = 0; b < n.num_ranks(); ++b) {
            const auto route = n.route(Rank{a}, Rank{b});
            check_route(n, Rank{a}, Rank{b}, route);
            REQUIRE(static_cast<std::int32_t>(route.size()) == length(a, b));
            if (shortest) REQUIRE(route.size() == distance[n.node_of(Rank{b}).at()]);
        }
    }
}

using Sizes = std::vector<std::int32_t>;

std::int32_t grid_distance(const Sizes& sizes, bool closed, std::int32_t a, std::int32_t b) {
    std::int32_t sum = 0;
    for (const std::int32_t size : sizes) {
        const std::int32_t apart = std::abs(a % size - b % size);
        sum += closed ? std::min(apart, size - apart) : apart;
        a /= size;
        b /= size;
    }
    return sum;
}

}  // namespace

TEST_CASE("numbers of hosts, nodes and cables have closed forms") {
    struct Case {
        const char* text;
        std::size_t hosts, nodes, cables;
    };
    const Case cases[] = {
        {"torus:4x4x4", 64, 64, 3 * 64},
        {"torus:5", 5, 5, 5},
        {"torus:2x2", 4, 4, 4},  // a line of two has one cable
        {"torus:4x1x2", 8, 8, 8 + 4},
        {"torus:1", 1, 1, 0},
        {"mesh:4x3", 12, 12, 3 * 3 + 4 * 2},
        {"mesh:3x4x5", 60, 60, 2 * 20 + 3 * 15 + 4 * 12},
        {"hypercube:1", 2, 2, 1},
        {"hypercube:6", 64, 64, 6 * 32},
        {"dragonfly:2,4,2", 72, 72 + 36, 72 + 9 * 6 + 9 * 8 / 2},
        {"dragonfly:1,2,1", 6, 6 + 6, 6 + 3 + 3},
        {"dragonfly:2,4,2,5", 40, 40 + 20, 40 + 5 * 6 + 2 * 10},  // two cables between each two groups
        {"dragonfly:2,4,2,4", 32, 32 + 16, 32 + 4 * 6 + 2 * 6},   // likewise; two of eight ports stay free
        {"dragonfly:3,4,2,1", 12, 12 + 4, 12 + 6},
        {"fat-tree:4x4x4", 64, 64 + 48, 3 * 64},
        {"fat-tree:4x4x4/4x4", 64, 64 + 48, 3 * 64},
        {"fat-tree:4x4x4/2x2", 64, 64 + 16 + 8 + 4, 64 + 32 + 16},
        {"fat-tree:4x3/1", 12, 12 + 3 + 1, 12 + 3},
        {"fat-tree:2x3/5", 6, 6 + 3 + 5, 6 + 15},
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        const Network n = generated(c.text);
        CHECK(static_cast<std::size_t>(n.num_ranks()) == c.hosts);
        CHECK(n.nodes().size() == c.nodes);
        CHECK(n.links().size() == 2 * c.cables);
        // The same from the blueprint, and no two cables alike.
        CHECK(network::build(network::generate(c.text)) == n);
        std::set<std::pair<NodeId, NodeId>> ends;
        std::set<std::string> names;
        for (const Link& link : n.links()) ends.emplace(link.source, link.target);
        for (const Node& node : n.nodes()) names.insert(node.name);
        CHECK(names.size() == c.nodes);
        if (std::string_view(c.text) != "dragonfly:1,2,1") CHECK(ends.size() == 2 * c.cables);
    }
}

TEST_CASE("nodes of one kind have the same number of cables") {
    using Set = std::set<std::size_t>;
    CHECK(degrees(generated("torus:4x3x5")).first == Set{6});
    CHECK(degrees(generated("hypercube:5")).first == Set{5});
    CHECK(degrees(generated("mesh:3x3")).first == Set{2, 3, 4});
    CHECK(degrees(generated("dragonfly:3,4,2")) == std::pair{Set{1}, Set{3 + 3 + 2}});
    CHECK(degrees(generated("dragonfly:3,4,2,5")) == std::pair{Set{1}, Set{3 + 3 + 2}});
    CHECK(degrees(generated("fat-tree:4x4x4/2x3")) == std::pair{Set{1}, Set{4 + 2, 4 + 3, 4}});
}

TEST_CASE("routes in a torus, mesh or hypercube are shortest and go dimension by dimension") {
    for (const Sizes& sizes : {Sizes{5}, Sizes{4, 4}, Sizes{3, 2, 4}, Sizes{1, 6}, Sizes{2, 2, 3}})
        for (const bool closed : {true, false}) {
            std::string shape;
            for (const std::int32_t size : sizes) shape += (shape.empty() ? "" : "x") + std::to_string(size);
            const Network n = generated((closed ? "torus:" : "mesh:") + shape);
            check_all_routes(n, true, [&](auto a, auto b) { return grid_distance(sizes, closed, a, b); });
            for (std::int32_t a = 0; a < n.num_ranks(); ++a)
                for (std::int32_t b = 0; b < n.num_ranks(); ++b) {
                    std::vector<std::size_t> dimensions;  // of the steps
                    for (const LinkId l : n.route(Rank{a}, Rank{b})) {
                        std::int32_t x = n.link(l).source.value, y = n.link(l).target.value;
                        std::size_t d = 0;
                        for (; x % sizes[d] == y % sizes[d]; ++d) {
                            x /= sizes[d];
                            y /= sizes[d];
                        }
                        dimensions.push_back(d);
                    }
                    REQUIRE(std::is_sorted(dimensions.begin(), dimensions.end()));
                }
        }
    const Network cube = generated("hypercube:5");
    check_all_routes(cube, true, [](auto a, auto b) { return std::popcount(static_cast<std::uint32_t>(a ^ b)); });
    CHECK(names_on(cube, Rank{0}, Rank{0b10110}) == std::vector<std::string>{"h0", "h2", "h6", "h22"});  // e-cube
    // Half way round both ways are equal: up.
    CHECK(names_on(generated("torus:4"), Rank{3}, Rank{1}) == std::vector<std::string>{"h3", "h0", "h1"});
}

TEST_CASE("routes in fat trees turn at the lowest common level, tapered or not") {
    for (const char* text : {"fat-tree:3x2x4", "fat-tree:4x4x4/2x2", "fat-tree:4x2x3/1x3", "fat-tree:2x3x2/3x5"}) {
        const Network n = generated(text);
        Sizes children;
        for (std::size_t i = 9; i < 14; i += 2) children.push_back(text[i] - '0');
        check_all_routes(n, true, [&](auto a, auto b) {
            std::int32_t level = 0;
            for (; a != b; ++level) {
                a /= children[static_cast<std::size_t>(level)];
                b /= children[static_cast<std::size_t>(level)];
            }
            return 2 * level;
        });
    }
}

TEST_CASE("d-mod-k loads the cables of each level of a tapered fat tree alike") {
    const Network n = generated("fat-tree:4x4x4/2x2");
    std::map<std::pair<std::string, std::string>, std::set<std::int32_t>> uses_of;  // by level and direction
    std::vector<std::int32_t> uses(n.links().size(), 0);
    for (std::int32_t a = 0; a < n.num_ranks(); ++a)
        for (std::int32_t b = 0; b < n.num_ranks(); ++b)
            if (a != b)
                for (const LinkId l : n.route(Rank{a}, Rank{b})) ++uses[l.at()];
    for (std::size_t l = 0; l < uses.size(); ++l) {
        const auto level = [&](NodeId node) { return n.node(node).name.substr(0, 2); };  // "s2"
        const auto group = [&](NodeId node) { return n.node(node).kind == NodeKind::host ? "h" : level(node); };
        uses_of[{group(n.links()[l].source), group(n.links()[l].target)}].insert(uses[l]);
    }
    CHECK(uses_of.size() == 6);
    for (const auto& [levels, counts] : uses_of) {
        CAPTURE(levels.first);
        CAPTURE(levels.second);
        CHECK(counts.size() == 1);
    }
    CHECK(uses_of[{"s2", "s3"}] == std::set<std::int32_t>{16 * 48 / 4});
}

TEST_CASE("minimal routes in a dragonfly take one global link, and only between groups") {
    struct Case {
        const char* text;
        std::int32_t hosts, routers, groups, cables_between_groups;
    };
    for (const Case& c : {Case{"dragonfly:2,4,2", 2, 4, 9, 1}, Case{"dragonfly:1,2,1", 1, 2, 3, 1},
                          Case{"dragonfly:2,4,2,5", 2, 4, 5, 2}, Case{"dragonfly:2,4,2,4", 2, 4, 4, 2},
                          Case{"dragonfly:2,3,3,2", 2, 3, 2, 9}, Case{"dragonfly:2,3,1,1", 2, 3, 1, 0}}) {
        CAPTURE(c.text);
        const Network n = generated(c.text);
        const auto router = [&](NodeId node) {
            return node.value < n.num_ranks() ? node.value / c.hosts : node.value - n.num_ranks();
        };
        const auto group = [&](NodeId node) { return router(node) / c.routers; };
        std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> cables;
        for (const Link& link : n.links())
            if (group(link.source) != group(link.target)) ++cables[{group(link.source), group(link.target)}];
        CHECK(cables.size() == static_cast<std::size_t>(c.groups * (c.groups - 1)));
        for (const auto& [groups, count] : cables) CHECK(count == c.cables_between_groups);
        for (std::int32_t a = 0; a < n.num_ranks(); ++a)
            for (std::int32_t b = 0; b < n.num_ranks(); ++b) {
                const auto route = n.route(Rank{a}, Rank{b});
                check_route(n, Rank{a}, Rank{b}, route);
                std::int32_t local = 0, global = 0;
                for (const LinkId l : route) {
                    const NodeId x = n.link(l).source, y = n.link(l).target;
                    if (group(x) != group(y))
                        ++global;
                    else if (router(x) != router(y))
                        ++local;
                }
                REQUIRE(global == (group(NodeId{a}) == group(NodeId{b}) ? 0 : 1));
                REQUIRE(local <= 1 + global);
                if (global == 0) REQUIRE(local == (router(NodeId{a}) == router(NodeId{b}) ? 0 : 1));
                REQUIRE(static_cast<std::int32_t>(route.size()) == (a == b ? 0 : 2 + local + global));
            }
    }
}

TEST_CASE("shapes that are none are refused in one message") {
    const std::pair<const char*, const char*> cases[] = {
        {"torus:", "shape \"\": a number in 1.."},
        {"torus:4x0", "shape \"4x0\": 0 is not in 1.."},
        {"torus:4,4", "unexpected \",\""},
        {"torus:4x4", "accepted"},
        {"mesh:2x2x2x2x2x2x2x2x2", "more than 8 numbers | write the hosts along each dimension, such as mesh:4x4x4"},
        {"mesh:5000x5000", "more than 16777216 nodes"},
        {"mesh:2000x2000", "more than 2097152 nodes"},
        {"hypercube:23", "at most 22 dimensions, not 23"},
        {"hypercube:3x3", "more than 1 number"},
        {"hypercube:22", "more than 2097152 nodes"},
        {"dragonfly:2,4", "fewer than 3 numbers | write hosts of a router"},
        {"dragonfly:2,4,2,10", "a group has 8 global links, too few for 9 other groups | give at most 9 groups"},
        {"dragonfly:2,4,2,5,1", "more than 4 numbers"},
        {"dragonfly:16777216,16777216,16777216", "more than 16777216 nodes"},
        {"dragonfly:1,100000,1,1", "more than 67108864 cables"},
        {"dragonfly:1,1,16777216,2", "more than 4194304 cables"},
        {"fat-tree:8x8x16/4", "3 levels of switches have cables up from 2, not from 1"},
        {"fat-tree:8x8/4x4", "2 levels of switches have cables up from 1, not from 2"},
        {"fat-tree:8/", "a number in 1.."},
        {"fat-tree:4x4/16777216", "more than 67108864 cables"},
        {"fat-tree:2x2x2x2/16777216x16777216x16777216", "more than"},
        {"tours:4", "unknown kind of network \"tours\""},
        {"toru:4", "did you mean \"torus\"?"},
    };
    for (const auto& [text, expected] : cases) {
        CAPTURE(text);
        const std::string message = message_of([&, name = text] { network::generate_network(name); });
        CAPTURE(message);
        CHECK(contains(message, expected));
    }
}

TEST_CASE("any shape is a network whose cables and routes fit together, or refused") {
    const char* const kinds[] = {"star:", "tree:", "fat-tree:", "torus:", "mesh:", "hypercube:", "dragonfly:"};
    const std::string letters = "1223345x,x,/";
    int accepted = 0;
    for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
        base::Random random(seed);
        const auto draw = [&](std::int32_t n) { return static_cast<std::int32_t>(random.below(n)); };
        std::string text = kinds[draw(7)];
        for (std::int32_t i = 1 + draw(7); i > 0; --i) text += letters[static_cast<std::size_t>(draw(12))];
        CAPTURE(seed);
        CAPTURE(text);
        network::GenerateOptions options;
        if (draw(2) == 0 && text[0] != 's' && !text.starts_with("tr")) options.routing = "ecmp";
        try {
            // The fabric first: it refuses nothing for its size here, and costs nothing.
            const auto fabric = network::make_fabric(text, options);
            if (fabric->num_links() > 4000) continue;
            const Network n = network::generate_network(text, options);
            ++accepted;
            REQUIRE(fabric->num_links() == static_cast<std::int32_t>(n.links().size()));
            std::vector<LinkId> route;
            for (int i = 0; i < 20; ++i) {
                const Rank a{draw(n.num_ranks())}, b{draw(n.num_ranks())};
                fabric->route(a, b, route);
                check_route(n, a, b, route);
                REQUIRE(route == n.route(a, b));
            }
        } catch (const InvalidInput&) {
        }
    }
    CHECK(accepted > 400);
}
