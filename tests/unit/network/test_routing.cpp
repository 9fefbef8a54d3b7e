// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include "hocket/base/random.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/routing.hpp"
#include "paths.hpp"

using namespace hocket;
using namespace hocket::examples;
using network::from_text;
using network::to_toml;

namespace {

network::GenerateOptions with_routing(const char* routing, std::optional<std::int64_t> seed = {}) {
    network::GenerateOptions options{.bandwidth_bytes_per_s = 98.75e6, .latency_s = 2e-5};
    options.routing = routing;
    options.seed = seed;
    return options;
}

/// a, b and c on s0 and s1, two ways between any two; two ranks on a.
const std::string two_switches = R"(format = "hocket.network/1"
node = [{name = "a", kind = "host", ranks = 2}, {name = "b", kind = "host"}, {name = "c", kind = "host"},
    {name = "s0", kind = "switch"}, {name = "s1", kind = "switch"}]
[[link]]
between = ["a", "s0"]
bandwidth = "1 B/s"
[[link]]
between = ["a", "s1"]
bandwidth = "1 B/s"
[[link]]
between = ["b", "s0"]
bandwidth = "1 B/s"
[[link]]
between = ["b", "s1"]
bandwidth = "1 B/s"
[[link]]
between = ["c", "s0"]
bandwidth = "1 B/s"
[[link]]
between = ["s1", "c"]
bandwidth = "1 B/s"
)";

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("routes by hash are shortest, the same at any time, and spread by the seed") {
    for (const char* text : {"fat-tree:4x4x4", "fat-tree:4x3x2/2x3", "torus:4x4x3", "mesh:4x5", "hypercube:5",
                             "torus:2x6", "dragonfly:2,4,2", "dragonfly:2,3,3,3"}) {
        CAPTURE(text);
        const Network n = network::generate_network(text, with_routing("ecmp", 7));
        const Network other = network::generate_network(text, with_routing("ecmp", 8));
        network::Routing routing;
        routing.ecmp_seed = 7;
        const auto general = network::make_ecmp_router(n.nodes(), n.links(), routing);
        int differ = 0, two_ways = 0;
        for (std::int32_t a = 0; a < n.num_ranks(); ++a) {
            const auto distance = distances(n, Rank{a});
            for (std::int32_t b = 0; b < n.num_ranks(); ++b) {
                if (a == b) continue;
                const auto route = n.route(Rank{a}, Rank{b});
                check_route(n, Rank{a}, Rank{b}, route);
                REQUIRE(route.size() == distance[n.node_of(Rank{b}).at()]);
                std::vector<LinkId> searched;  // arithmetic and search draw the same
                general->route(n.node_of(Rank{a}), n.node_of(Rank{b}), searched);
                REQUIRE(route == searched);
                if (route != other.route(Rank{a}, Rank{b})) ++differ;
                ++two_ways;
            }
        }
        CHECK(differ > 0);
        CHECK(differ < two_ways);
    }
}

TEST_CASE("a hash takes each of two equal paths about as often") {
    const Network n = network::generate_network("fat-tree:16x16/2", with_routing("ecmp"));
    std::vector<std::int32_t> uses(n.links().size(), 0);
    for (std::int32_t a = 0; a < n.num_ranks(); ++a)
        for (std::int32_t b = 0; b < n.num_ranks(); ++b)
            for (const LinkId l : n.route(Rank{a}, Rank{b})) ++uses[l.at()];
    // 16 * 240 pairs leave each switch over two cables: 1920 each, with a standard deviation of 31.
    for (std::size_t cable = 256; cable < 256 + 32; ++cable) {
        CHECK(uses[2 * cable] == doctest::Approx(1920).epsilon(0.08));
        CHECK(uses[2 * cable + 1] == doctest::Approx(1920).epsilon(0.08));
    }
}

TEST_CASE("the routing is chosen by its name, as the kind has it") {
    const Network torus = network::generate_network("torus:4x4", with_routing("shortest-path"));
    const Network same = network::generate_network("torus:4x4", with_routing("dimension-order"));
    CHECK(same == network::generate_network("torus:4x4", with_routing("")));
    CHECK_FALSE(torus == same);
    const auto general = network::make_shortest_path_router(torus.nodes(), torus.links());
    std::vector<LinkId> route;
    general->route(NodeId{1}, NodeId{14}, route);
    CHECK(torus.route(Rank{1}, Rank{14}) == route);
    const auto message = [](const char* text, network::GenerateOptions options) {
        return message_of([&] { network::generate(text, options); });
    };
    CHECK(contains(message("torus:4", with_routing("d-mod-k")),
                   "routing \"d-mod-k\" is none of torus; accepted: \"dimension-order\", \"shortest-path\", \"ecmp\""));
    CHECK(contains(message("star:4", with_routing("ecmp")), "accepted: \"shortest-path\""));
    CHECK(contains(message("dragonfly:1,2,1", with_routing("minmal")), "did you mean \"minimal\"?"));
    CHECK(contains(message("torus:4", with_routing("", 3)), "seed belongs to routing \"ecmp\" alone"));
    CHECK(contains(message("torus:4", with_routing("ecmp", -1)), "seed: -1 is not at least 0"));
}

TEST_CASE("files keep the routing") {
    for (const char* text : {"fat-tree:4x4/2", "torus:4x2x3", "mesh:4x5", "hypercube:3", "dragonfly:2,4,2",
                             "dragonfly:2,3,3,3", "tree:2x3"})
        for (const char* routing : {"", "shortest-path", "ecmp"}) {
            CAPTURE(text);
            CAPTURE(routing);
            if (std::string(text) == "tree:2x3" && std::string(routing) == "ecmp") continue;
            const Network n = network::generate_network(text, with_routing(routing));
            CHECK(network::build(network::generate(text, with_routing(routing))) == n);
            const Network again = from_text(to_toml(n));
            CHECK(again == n);
            for (std::int32_t b = 1; b < n.num_ranks(); ++b)
                CHECK(again.route(Rank{0}, Rank{b}) == n.route(Rank{0}, Rank{b}));
            const std::string file = to_toml(n);
            CHECK(contains(file, "seed = 1") == (std::string(routing) == "ecmp"));
        }
    for (const char* routing :
         {"", "[routing]\nkind = \"ecmp\"\nseed = 5", "[routing]\nroutes = [[\"a\", \"s1\", \"b\"]]",
          "[routing]\nkind = \"ecmp\"\nroutes = [[\"a\", \"s1\", \"b\"], [\"b\", \"s1\", \"c\", \"s0\", \"a\"]]"}) {
        CAPTURE(routing);
        const Network n = from_text(two_switches + routing);
        CHECK(from_text(to_toml(n)) == n);
        CHECK((n == from_text(two_switches)) == std::string(routing).empty());
    }
}

TEST_CASE("explicit routes hold one way for all ranks of a host, other routing for the rest") {
    const Network n = from_text(two_switches +
                                "[routing]\nroutes = [[\"a\", \"s1\", \"b\"], [\"b\", \"s1\", \"c\", "
                                "\"s0\", \"a\"]]");
    CHECK(names_on(n, Rank{0}, Rank{2}) == Names{"a/0", "a", "s1", "b"});
    CHECK(names_on(n, Rank{1}, Rank{2}) == Names{"a/1", "a", "s1", "b"});
    CHECK(names_on(n, Rank{2}, Rank{1}) == Names{"b", "s1", "c", "s0", "a", "a/1"});
    CHECK(names_on(n, Rank{2}, Rank{3}) == Names{"b", "s0", "c"});  // the smaller node
    CHECK(names_on(n, Rank{0}, Rank{1}) == Names{"a/0", "a", "a/1"});
}

TEST_CASE("no route passes a host that does not relay, but its own ranks' do") {
    // Two rails: a and b on s0, c and d on s1, h on both; the switches meet at the top, two links away from each.
    const auto file = [](const std::string& routing, const std::string& relay, bool joined) {
        std::string text = "format = \"hocket.network/1\"\n" + routing;
        for (const char* name : {"h", "a", "c"})
            text += "[[node]]\nname = \"" + std::string(name) + "\"\nkind = \"host\"\n" +
                    (*name == 'h' ? "ranks = 2\n" + relay : "");
        for (const char* name : {"s0", "s1", "t", "m0", "m1"})
            text += "[[node]]\nname = \"" + std::string(name) + "\"\nkind = \"switch\"\n";
        std::vector<std::pair<const char*, const char*>> cables{{"h", "s0"},  {"h", "s1"}, {"a", "s0"}, {"c", "s1"},
                                                                {"s0", "m0"}, {"m0", "t"}, {"s1", "m1"}};
        if (joined) cables.emplace_back("m1", "t");
        for (const auto& [a, b] : cables)
            text += "[[link]]\nbetween = [\"" + std::string(a) + "\", \"" + b + "\"]\nbandwidth = \"1 B/s\"\n";
        return text;
    };
    for (const char* routing : {"", "[routing]\nkind = \"ecmp\"\n"}) {
        CAPTURE(routing);
        // Ranks 0 and 1 on h, 2 on a, 3 on c.
        const Network open = from_text(file(routing, "", true));
        CHECK(open.route(Rank{2}, Rank{3}).size() == 4);
        const Network closed = from_text(file(routing, "relay = false\n", true));
        CHECK(closed.route(Rank{2}, Rank{3}).size() == 6);
        CHECK(closed.route(Rank{0}, Rank{1}).size() == 2);
        CHECK(closed.route(Rank{0}, Rank{3}).size() == 3);
        CHECK(closed.route(Rank{2}, Rank{1}).size() == 3);
        CHECK(from_text(to_toml(closed)) == closed);
        CHECK_FALSE(open == closed);
    }
    CHECK(from_text(file("", "", false)).route(Rank{2}, Rank{3}).size() == 4);
    CHECK(contains(message_of([&] { from_text(file("", "relay = false\n", false)); }),
                   "no path in both directions between rank 2 on \"a\" and rank 3 on \"c\""));
    CHECK(contains(message_of([&] { from_text(file("", "relay = 0\n", true)); }), "expected: true or false"));
}

TEST_CASE("routes that are not paths are refused with their line") {
    const auto message = [](const std::string& routing) {
        return message_of([&] { from_text(two_switches + routing, "x.toml"); });
    };
    const std::pair<const char*, const char*> cases[] = {
        {"[routing]\nroutes = [\n[\"a\", \"s0\", \"b\"],\n[\"a\", \"b\"]]",
         "x.toml:25: route 2: no link joins \"a\" and \"b\" | name every node on the way"},
        {"[routing]\nroutes = [[\"a\", \"s0\", \"b\", \"s0\", \"c\"]]", "x.toml:23: route 1: it visits \"s0\" twice"},
        {"[routing]\nroutes = [[\"a\", \"s0\", \"a\"]]", "it visits \"a\" twice"},
        {"[routing]\nroutes = [[\"a\"]]", "it has less than two nodes"},
        {"[routing]\nroutes = [[]]", "it has less than two nodes"},
        {"[routing]\nroutes = [[\"a\", \"s0\"]]", "\"s0\" is not a host"},
        {"[routing]\nroutes = [[\"a\", \"s0\", \"b\"], [\"a\", \"s1\", \"b\"]]",
         "route 2: it is the second from \"a\" to \"b\""},
        {"[routing]\nroutes = [[\"a\", \"s3\", \"b\"]]", "x.toml:23: routes: no node has the name \"s3\""},
        {"[routing]\nroutes = [[\"a\", 3]]", "routes is the number 3; expected: the name of a node"},
        {"[routing]\nroutes = [3]", "routes holds the number 3"},
        {"[routing]\nroutes = \"a\"", "routes is \"a\"; expected: lists of node names"},
        {"[routing]\nkind = \"emcp\"", "kind \"emcp\" is not known; accepted: \"shortest-path\", \"ecmp\""},
        {"[routing]\nkind = \"ecmp\"\nseed = -1", "x.toml:24: seed is the number -1; expected: an integer"},
        {"[routing]\nkind = \"ecmp\"\nseed = 1.5", "seed is the number 1.5"},
        {"[routing]\nseed = 1", "seed belongs to kind \"ecmp\" alone"},
        {"[routing]\nroute = []", "unknown key \"route\" in [routing]"},
    };
    for (const auto& [routing, expected] : cases) {
        CAPTURE(std::string(routing));
        const std::string found = message(routing);
        CAPTURE(found);
        CHECK(contains(found, expected));
    }
    CHECK(contains(message_of([] {
                       from_text(
                           "format = \"hocket.network/1\"\n[generate]\nkind = \"star\"\nshape = \"4\"\nbandwidth = "
                           "\"1 B/s\"\n[routing]\nkind = \"ecmp\"");
                   }),
                   "routing and [generate] exclude each other"));
}

TEST_CASE("a fabric has the links and routes of the network") {
    const auto check_equal = [](const network::Fabric& fabric, const Network& n, std::int32_t pairs) {
        CHECK(fabric.num_ranks() == n.num_ranks());
        CHECK(fabric.num_links() == static_cast<std::int32_t>(n.links().size()));
        CHECK(fabric.num_capacities() == n.num_capacities());
        bool same = true;
        for (std::int32_t l = 0; l < fabric.num_links(); ++l) {
            const Link& link = n.link(LinkId{l});
            same = same && fabric.capacity_of(LinkId{l}) == link.capacity &&
                   std::equal_to<>{}(fabric.latency_s(LinkId{l}), link.latency_s) &&
                   std::equal_to<>{}(fabric.bandwidth_bytes_per_s(link.capacity), link.bandwidth_bytes_per_s);
            const network::Fabric::Ends ends = fabric.ends(LinkId{l});
            same = same && ends.source == link.source && ends.target == link.target;
        }
        CHECK(same);
        CHECK(fabric.name() == n.name());
        REQUIRE(fabric.num_nodes() == static_cast<std::int32_t>(n.nodes().size()));
        for (std::int32_t i = 0; i < fabric.num_nodes(); ++i)
            same = same && fabric.node_name(NodeId{i}) == n.node(NodeId{i}).name;
        for (std::int32_t r = 0; r < fabric.num_ranks(); ++r)
            same = same && fabric.node_of(Rank{r}) == n.node_of(Rank{r});
        CHECK(same);
        std::vector<LinkId> route{LinkId{3}};
        base::Random random(5);
        const std::int32_t all = n.num_ranks() * n.num_ranks();
        for (std::int32_t i = 0; i < (pairs > 0 ? pairs : all); ++i) {
            const Rank a{pairs > 0 ? static_cast<std::int32_t>(random.below(n.num_ranks())) : i / n.num_ranks()};
            const Rank b{pairs > 0 ? static_cast<std::int32_t>(random.below(n.num_ranks())) : i % n.num_ranks()};
            fabric.route(a, b, route);
            REQUIRE(route == n.route(a, b));
        }
    };
    for (const char* text :
         {"star:9", "star:1", "tree:3x2x4", "fat-tree:3x2x4", "fat-tree:4x4/3", "torus:4x3x2", "torus:5x5", "mesh:3x4",
          "hypercube:5", "dragonfly:2,4,2", "dragonfly:2,3,3,3", "two-clusters:4+3"})
        for (const char* routing : {"", "shortest-path", "ecmp"}) {
            const std::string name(text);
            const bool one_path = name[0] == 's' || name.starts_with("tr") || name.starts_with("tw");
            if (one_path && std::string(routing) == "ecmp") continue;
            CAPTURE(name);
            CAPTURE(routing);
            const Network n = network::generate_network(text, with_routing(routing));
            check_equal(*network::make_fabric(text, with_routing(routing)), n, 0);
            check_equal(*network::make_fabric(n), n, 0);
        }
    for (const char* text :
         {"fat-tree:32x32x16", "torus:32x16x16", "hypercube:14", "dragonfly:8,16,8", "tree:20x20x20"}) {
        CAPTURE(std::string(text));
        check_equal(*network::make_fabric(text, with_routing("")),
                    network::build(network::generate(text, with_routing(""))), 3000);
    }
    std::string half_duplex = two_switches;
    half_duplex.insert(half_duplex.find("[[link]]", half_duplex.find("[[link]]") + 1), "duplex = \"half\"\n");
    const Network half = from_text(half_duplex);
    CHECK(half.link(LinkId{1}).capacity == 0);
    check_equal(*network::make_fabric(half), half, 0);
}

TEST_CASE("a fabric of a million hosts") {
    const auto fabric = network::make_fabric("fat-tree:128x128x64", {});
    CHECK(fabric->num_ranks() == 1 << 20);
    CHECK(fabric->num_links() == 6 << 20);
    std::vector<LinkId> route;
    fabric->route(Rank{0}, Rank{(1 << 20) - 1}, route);
    CHECK(route.size() == 6);
    const Network n = from_text(
        "format = \"hocket.network/1\"\nname = \"large\"\n[generate]\nkind = \"fat-tree\"\nshape = "
        "\"128x128x64\"\nbandwidth = \"1 Gbit/s\"\n");
    CHECK(n.name() == "large");
    CHECK(n.num_ranks() == 1 << 20);
    base::Random random(3);
    for (int i = 0; i < 1000; ++i) {
        const Rank a{static_cast<std::int32_t>(random.below(1 << 20))};
        const Rank b{static_cast<std::int32_t>(random.below(1 << 20))};
        fabric->route(a, b, route);
        REQUIRE(route == n.route(a, b));
    }
    check_route(n, Rank{0}, Rank{(1 << 20) - 1}, n.route(Rank{0}, Rank{(1 << 20) - 1}));
    CHECK(contains(message_of([] { network::make_fabric("fat-tree:256x256x257", {}); }), "more than 16777216 nodes"));
}
