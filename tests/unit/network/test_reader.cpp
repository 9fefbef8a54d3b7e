// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "../simulation/examples.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/generate.hpp"

using namespace hocket;
using network::from_text;
using network::to_toml;

namespace {

const std::string two_hosts = R"(format = "hocket.network/1"
name = "two"

[[node]]
name = "a"
kind = "host"
ranks = 2
memory_bandwidth = "3.6 Gbit/s"
memory_latency = "1 us"

[[node]]
name = "b"
kind = "host"

[[node]]
name = "s"
kind = "switch"

[[link]]
between = ["a", "s"]
bandwidth = "1 Gbit/s"
latency = "50 us"
bandwidth_back = "100 Mbit/s"
latency_back = "60 us"

[[link]]
between = ["b", "s"]
bandwidth = "unlimited"
duplex = "half"
)";

/// two_hosts with one text replaced by another.
std::string with(const std::string& old_text, const std::string& new_text) {
    std::string text = two_hosts;
    text.replace(text.find(old_text), old_text.size(), new_text);
    return text;
}

/// two_hosts with a table [calibration] of one line, the 32nd.
std::string calibrated(const std::string& line) { return two_hosts + "\n[calibration]\n" + line + "\n"; }

std::string error_of(const std::string& text) {
    try {
        from_text(text, "two.toml");
    } catch (const InvalidInput& error) {
        return std::string(error.what()) + " | " + error.hint();
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a file becomes nodes, processes, links and ranks") {
    const Network n = from_text(two_hosts);
    CHECK(n.name() == "two");
    REQUIRE(n.nodes().size() == 5);
    CHECK(n.nodes()[3].name == "a/0");
    CHECK(n.nodes()[3].kind == NodeKind::process);
    REQUIRE(n.links().size() == 8);
    CHECK(n.links()[0] == Link{NodeId{0}, NodeId{2}, 125e6, 50e-6, 0});
    CHECK(n.links()[1] == Link{NodeId{2}, NodeId{0}, 12.5e6, 60e-6, 1});
    CHECK(n.links()[2].capacity == n.links()[3].capacity);
    CHECK(n.links()[4] == Link{NodeId{3}, NodeId{0}, 450e6, 1e-6, 4});
    CHECK(n.num_ranks() == 3);
    CHECK(n.node_of(Rank{1}) == NodeId{4});
    CHECK(n.host_of(Rank{1}) == NodeId{0});
    CHECK(n.node_of(Rank{2}) == NodeId{1});
    CHECK(n.is_tree());
    CHECK(n.route(Rank{0}, Rank{1}) == std::vector{LinkId{4}, LinkId{7}});
}

TEST_CASE("placement is block, cyclic or a list") {
    const auto hosts = [](const std::string& placement) {
        const Network n = from_text("placement = " + placement + "\n" + two_hosts);
        std::string names;
        for (std::int32_t r = 0; r < n.num_ranks(); ++r) names += n.node(n.host_of(Rank{r})).name;
        return names;
    };
    CHECK(hosts("\"block\"") == "aab");
    CHECK(hosts("\"cyclic\"") == "aba");
    CHECK(hosts("[\"b\", \"a\", \"a\"]") == "baa");
    CHECK(hosts("[\"b\", \"a\"]") == "ba");
}

TEST_CASE("what is written reads back as the same network") {
    CHECK(from_text(to_toml(from_text(two_hosts))) == from_text(two_hosts));
    for (const char* text :
         {"star:16", "star:1", "two-clusters:4+3", "tree:2x3x2", "fat-tree:2x2x4", "fat-tree:3x2", "fat-tree:4"}) {
        CAPTURE(text);
        const Network n =
            network::build(network::generate(text, {.bandwidth_bytes_per_s = 98.75e6, .latency_s = 2e-5}));
        CHECK(from_text(to_toml(n)) == n);
    }
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        network::Blueprint blueprint = examples::random_tree(random, 5);
        if (seed % 3 == 1) blueprint.placement = network::cyclic_placement(blueprint);
        if (seed % 3 == 2) {
            blueprint.placement = network::block_placement(blueprint);
            std::swap(blueprint.placement.front(), blueprint.placement.back());
        }
        blueprint.name = "quote \" backslash \\ newline \n \xC3\xA9";
        const Network n = network::build(blueprint);
        CHECK(from_text(to_toml(n)) == n);
    }
    // A network that is not cables cannot be written.
    const Network ring(
        "ring", {{"a"}, {"b"}, {"c"}},
        {{NodeId{0}, NodeId{1}, 1, 0, 0}, {NodeId{1}, NodeId{2}, 1, 0, 1}, {NodeId{2}, NodeId{0}, 1, 0, 2}},
        {NodeId{0}, NodeId{2}});
    CHECK_THROWS_AS(to_toml(ring), InvalidInput);
}

TEST_CASE("how a network was measured is kept, whatever it is, and is not part of the network") {
    const std::string tables = R"([calibration]
burst = "9 kB"
grade = "A"
note = "\u00E9 \"quoted\" \\"
send_overhead = "5 us"
spread = 0.05

[[calibration.link]]
between = [ "a", "s" ]

[[calibration.link]]
between = [ "b", "s" ]
)";
    for (const std::string& text : {two_hosts, with("name = \"two\"", "name = \"two\"\nplacement = \"cyclic\""),
                                    std::string("format = \"hocket.network/1\"\n[generate]\nkind = \"fat-tree\"\n"
                                                "shape = \"2x2x4\"\nbandwidth = \"1 GB/s\"\n")}) {
        const Network plain = from_text(text), measured = from_text(text + "\n" + tables);
        CHECK(plain.calibration() == nullptr);
        REQUIRE(measured.calibration() != nullptr);
        CHECK(measured.calibration()->send_overhead_s == 5e-6);
        CHECK(!measured.calibration()->receive_overhead_s);
        CHECK(measured.calibration()->burst_bytes == 9000);
        CHECK(measured == plain);
        CHECK(to_toml(measured).starts_with(to_toml(plain) +
                                            "\n[calibration]\nburst = \"9 kB\"\ngrade = \"A\"\nnote = "));
        CHECK(from_text(to_toml(measured)).calibration()->toml == measured.calibration()->toml);
        CHECK(Network(measured).calibration() == measured.calibration());
    }
}

TEST_CASE("times of an MPI's own collectives are read, and written behind the rest") {
    const std::string text = two_hosts + R"(
[calibration]
grade = "A"

[[calibration.native]]
mpi = "Some MPI 1.0"
collective = "bcast"
up_to_bytes = 1000
algorithm = "binomial"
factor = 1.25
schedule_factor = 1

[[calibration.native]]
mpi = "Some MPI 1.0"
collective = "bcast"
up_to_bytes = 1000000
algorithm = "pipelined_chain"
segment_bytes = 8192
factor = 0.5
schedule_factor = 2.0
)";
    const Network network = from_text(text);
    REQUIRE(network.calibration() != nullptr);
    const auto& natives = network.calibration()->natives;
    REQUIRE(natives.size() == 2);
    CHECK(natives[0].mpi == "Some MPI 1.0");
    CHECK(natives[0].factor == 1.25);
    CHECK(natives[0].schedule_factor == 1);
    CHECK(!natives[0].segment_bytes);
    CHECK(natives[1].algorithm == "pipelined_chain");
    CHECK(natives[1].segment_bytes == 8192);
    CHECK(natives[1].bytes_max == 1'000'000);
    CHECK(to_toml(from_text(to_toml(network))) == to_toml(network));
    CHECK(network.calibration()->toml.find("native") == std::string::npos);
}

TEST_CASE("a generated network is the table that generates it, and takes a placement") {
    const Network n = from_text(
        "format = \"hocket.network/1\"\nname = \"mine\"\nplacement = [\"b1\", \"a0\"]\n[generate]\nkind = "
        "\"two-clusters\"\n"
        "shape = \"2+2\"\nbandwidth = \"93 Mbit/s\"\nsecond_bandwidth = \"790 Mbit/s\"\ntrunk_bandwidth = \"1 "
        "Gbit/s\"\n"
        "latency = \"5 us\"\ntrunk_latency = \"9 us\"\n");
    CHECK(n.name() == "mine");
    CHECK(n.num_ranks() == 2);
    CHECK(n.node(n.node_of(Rank{0})).name == "b1");
    double latency_s = 0;
    for (const LinkId l : n.route(Rank{0}, Rank{1})) latency_s += n.link(l).latency_s;
    CHECK(latency_s == doctest::Approx(19e-6));
}

TEST_CASE("every mistake is reported with file, line, key, value and what is accepted") {
    struct Case {
        std::string text, expected;
    };
    const Case cases[] = {
        {with("bandwidth = \"1 Gbit/s\"", "bandwith = \"1 Gbit/s\""),
         "two.toml:21: unknown key \"bandwith\" in [[link]]"},
        {with("bandwidth = \"1 Gbit/s\"", "bandwith = \"1 Gbit/s\""), "did you mean \"bandwidth\"?"},
        {with("\"1 Gbit/s\"", "\"1 Gbit\""), "two.toml:21: bandwidth: \"1 Gbit\" is not a bandwidth: unknown unit"},
        {with("\"1 Gbit/s\"", "1000"), "two.toml:21: bandwidth is the number 1000, without a unit"},
        {with("\"1 Gbit/s\"", "\"1e-300 B/s\""), "two.toml:21: bandwidth: 1e-300 bytes/s is out of range"},
        {with("\"1 Gbit/s\"", "\"1e300 B/s\""), "two.toml:21: bandwidth: 1e+300 bytes/s is out of range"},
        {with("\"50 us\"", "\"1e300 s\""), "two.toml:22: latency: 1e+300 s is out of range"},
        {with("\"1 Gbit/s\"", "0"), "two.toml:21: bandwidth: \"0\" is not a bandwidth: it must be above 0"},
        {with("\"1 Gbit/s\"", "true"), "two.toml:21: bandwidth is a boolean"},
        {with("\"50 us\"", "-1"), "two.toml:22: latency is the number -1, without a unit"},
        {with("\"50 us\"", "nan"), "two.toml:22: latency"},
        {with("[\"a\", \"s\"]", "[\"a\", \"t\"]"),
         "two.toml:20: between: no node has the name \"t\"; the file has \"a\", \"b\", \"s\""},
        {with("[\"a\", \"s\"]", "[\"a\", \"a\"]"), "two.toml:20: a link joins \"a\" with itself"},
        {with("[\"a\", \"s\"]", "[\"b\", \"s\"]"), "two.toml:27: a second link joins \"b\" and \"s\""},
        {with("[\"a\", \"s\"]", "\"a\""), "two.toml:20: between is not a pair"},
        {with("name = \"b\"", "name = \"a\""), "two.toml:11: a second node has the name \"a\"; the first is in line 4"},
        {with("name = \"b\"", "name = \"\""), "two.toml:12: a node's name is empty"},
        {with("name = \"b\"", "name = 3"), "two.toml:12: name is the number 3"},
        {with("kind = \"switch\"", "kind = \"swich\""),
         "two.toml:17: kind \"swich\" is not known; accepted: \"host\", \"switch\""},
        {with("kind = \"switch\"", "kind = \"switch\"\nranks = 1"),
         "two.toml:18: ranks belongs to hosts; \"s\" is a switch"},
        {with("ranks = 2", "ranks = -2"), "two.toml:7: ranks is the number -2; expected: an integer in 0.."},
        {with("ranks = 2", "ranks = 9223372036854775807"), "two.toml:7: ranks is the number 9223372036854775807"},
        {with("ranks = 2", "ranks = 2097152"), "two.toml:4: the network has more than 2097152 nodes and processes"},
        {with("ranks = 2", "ranks = 1"), "two.toml:8: memory_bandwidth needs ranks above 1; \"a\" has 1"},
        {with("\"half\"", "\"no\""), "two.toml:29: duplex \"no\" is not known; accepted: \"full\", \"half\""},
        {with("duplex = \"half\"", "duplex = \"half\"\nbandwidth_back = \"1 B/s\""), "two.toml:30: both directions"},
        {with("hocket.network/1", "hocket.network/2"), "two.toml:1: format \"hocket.network/2\" is not known"},
        {with("format = \"hocket.network/1\"", ""), "key \"format\" is missing"},
        {with("between = [\"b\", \"s\"]", "between = [\"b\", \"a\"]\nx = {}"), "two.toml:28: unknown key \"x\""},
        {"node = 3\n" + two_hosts, "not TOML"},
        {"format = \"hocket.network/1\"\nnode = 3\n", "two.toml:2: node is the number 3; expected: tables [[node]]"},
        {"format = \"hocket.network/1\"\nnode = [3]\n", "two.toml:2: node holds the number 3"},
        {"format = \"hocket.network/1\"\n", "it has no rank"},
        {"placement = \"blok\"\n" + two_hosts, "two.toml:1: placement \"blok\" is not known"},
        {"placement = []\n" + two_hosts, "two.toml:1: placement is an array"},
        {"placement = [\"s\"]\n" + two_hosts, "two.toml:1: placement: \"s\" is a switch"},
        {"placement = [\"b\", \"b\"]\n" + two_hosts, "placement names \"b\" more often than its ranks = 1"},
        {"format = \"hocket.network/1\"\n[generate]\nkind = \"str\"\nshape = \"4\"\nbandwidth = \"1 GB/s\"",
         "unknown kind of network \"str\""},
        {"format = \"hocket.network/1\"\n[generate]\nkind = \"star\"\nshape = \"4x\"\nbandwidth = \"1 GB/s\"",
         "two.toml:2: shape \"4x\""},
        {"generate = {}\n" + two_hosts, "exclude each other"},
        {"calibration = 3\n" + two_hosts, "two.toml:1: calibration is the number 3; expected: a table [calibration]"},
        {calibrated("send_overhead = 5"), "two.toml:32: send_overhead is the number 5, without a unit"},
        {calibrated("receive_overhead = true"), "two.toml:32: receive_overhead is a boolean; expected: text such as"},
        {calibrated("reduce_bandwidth = \"1e-300 B/s\""), "two.toml:32: reduce_bandwidth: 1e-300 bytes/s is out of"},
        {calibrated("rendezvous_bytes = true"), "two.toml:32: rendezvous_bytes is a boolean; expected: a whole number"},
        {calibrated("rendezvous_bytes = 0"), "two.toml:32: rendezvous_bytes is the number 0; expected: a whole number"},
        {calibrated("burst = 9000"), "two.toml:32: burst is the number 9000; expected: text such as \"64 KiB\""},
        {calibrated("burst = \"9 k\""), "two.toml:32: burst: \"9 k\" is not a number of bytes"},
        {calibrated("burst_time = \"-1 us\""), "two.toml:32: burst_time: \"-1 us\" is not a duration"},
        {calibrated("native = 3"), "two.toml:32: native is the number 3; expected: tables [[native]]"},
        {calibrated("[[calibration.native]]\nmpi = \"M\""), "two.toml:32: key \"collective\" is missing"},
        {calibrated("[[calibration.native]]\nmpi = \"M\"\ncollective = \"bcast\"\nalgorithm = \"linear\"\n"
                    "up_to_bytes = 0"),
         "two.toml:36: up_to_bytes is the number 0; expected: a whole number above 0"},
        {calibrated("[[calibration.native]]\nmpi = \"M\"\ncollective = \"bcast\"\nalgorithm = \"linear\"\n"
                    "up_to_bytes = 8\nfactor = -1.5"),
         "two.toml:37: factor is the number -1.5; expected: a number above 0"},
        {"= 3", "two.toml:1: not TOML"},
        {"a = \"\xFF\"", "not TOML"},
        {"[[[a]]]", "not TOML"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        const std::string error = error_of(c.text);
        CAPTURE(error);
        CHECK(contains(error, c.expected));
        CHECK(error.starts_with("two.toml"));
    }
}

TEST_CASE("ranks that cannot reach each other are named") {
    const std::string error = error_of(with("between = [\"b\", \"s\"]", "between = [\"b\", \"c\"]") +
                                       "[[node]]\nname = \"c\"\nkind = \"switch\"\n");
    CHECK(contains(
        error, "two.toml: network \"two\": no path in both directions between rank 0 on \"a/0\" and rank 2 on \"b\""));
}

TEST_CASE("generators refuse what is too large or has the wrong shape") {
    for (const char* text : {"",
                             "star",
                             "star:",
                             "star:0",
                             "star:-1",
                             "star:3x3",
                             "star:99999999999",
                             "star:2097152",
                             "tree:",
                             "tree:1000x1000x1000",
                             "tree:2x2x2x2x2x2x2x2x2",
                             "fat-tree:70000x70000",
                             "fat-tree:2x2x1000000",
                             "fat-tree:2097152",
                             "two-clusters:4",
                             "two-clusters:4x4",
                             "two-clusters:2097151+1",
                             "ring:4",
                             "star:4 ",
                             "star:4y"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(network::generate(text), InvalidInput);
    }
    CHECK_THROWS_AS(network::generate("star:4", {.trunk_latency_s = 1}), InvalidInput);
    CHECK_THROWS_AS(network::generate("star:4", {.bandwidth_bytes_per_s = 0}), InvalidInput);
    CHECK_THROWS_AS(network::generate("star:4", {.latency_s = std::numeric_limits<double>::infinity()}), InvalidInput);
}

TEST_CASE("a file that cannot be read is reported with its path") {
    for (const std::filesystem::path path : {"/no/such/file.toml", "/", "/dev/zero"}) {
        try {
            network::from_file(path);
            FAIL("read");
        } catch (const InvalidInput& error) {
            CHECK(std::string(error.what()).starts_with(path.string() + ": cannot read the network file: "));
        }
    }
}

TEST_CASE("any bytes are a network or refused") {
    for (const std::uint64_t seed : {21U, 22U, 23U}) {
        CAPTURE(seed);
        base::Random random(seed);
        for (int i = 0; i < 3000; ++i) {
            std::string text = i % 4 == 0 ? std::string() : two_hosts;
            for (auto edits = 1 + random.below(8); edits > 0; --edits) {
                const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size()) + 1));
                const auto length = static_cast<std::size_t>(random.below(12));
                switch (random.below(4)) {
                    case 0:
                        text.insert(at, 1, static_cast<char>(random.below(256)));
                        break;
                    case 1:
                        text.erase(at, length);
                        break;
                    case 2:
                        text.insert(at, text.substr(static_cast<std::size_t>(
                                                        random.below(static_cast<std::int64_t>(text.size()) + 1)),
                                                    40));
                        break;
                    default:
                        text.insert(at, random.below(2) == 0 ? "[[" : "9999999999999");
                        break;
                }
            }
            try {
                const Network n = from_text(text);
                CHECK(from_text(to_toml(n)) == n);
            } catch (const InvalidInput&) {
            }
        }
    }
    const std::string deep(100000, '[');
    CHECK_THROWS_AS(from_text("a = " + deep), InvalidInput);
}
