// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/placement.hpp"

using namespace hocket;
using network::find_host;

namespace {

std::string text_of(std::initializer_list<const char*> hosts) {
    std::string text = "format = \"hocket.network/1\"\nname = \"test\"\n[[node]]\nname = \"s\"\nkind = \"switch\"\n";
    for (const std::string host : hosts)
        text += "[[node]]\nname = \"" + host + "\"\nkind = \"host\"\n[[link]]\nbetween = [\"" + host +
                "\", \"s\"]\nbandwidth = \"1 Gbit/s\"\n";
    return text;
}

std::optional<std::string> found(const Network& network, const char* machine) {
    const auto host = find_host(network, machine);
    return host ? std::optional(network.node(*host).name) : std::nullopt;
}

}  // namespace

TEST_CASE("a machine is found by its name, with a domain or without") {
    const Network network = network::from_text(text_of({"n1", "n2.site.org", "n3.site.org", "n3.other.org"}));
    CHECK(found(network, "n1") == "n1");
    CHECK(found(network, "n1.site.org") == "n1");
    CHECK(found(network, "n2") == "n2.site.org");
    CHECK(found(network, "n2.site.org") == "n2.site.org");
    CHECK(found(network, "n2.other.org") == std::nullopt);
    CHECK(found(network, "n3.other.org") == "n3.other.org");
    CHECK(found(network, "n3") == std::nullopt);  // which one?
    CHECK(found(network, "n") == std::nullopt);
    CHECK(found(network, "s") == std::nullopt);  // a switch
    CHECK(found(network, "") == std::nullopt);
}

TEST_CASE("ranks sit on their hosts, and take the processes of a host in turn") {
    std::string text = text_of({"a", "b"});
    text.insert(text.find("kind = \"host\""), "ranks = 2\nmemory_bandwidth = \"10 Gbit/s\"\n");
    const Network cluster = network::from_text(text);
    REQUIRE(cluster.num_ranks() == 3);
    const NodeId a = *find_host(cluster, "a"), b = *find_host(cluster, "b");
    const std::vector<NodeId> hosts{b, a, a, b, a};
    const Network job = network::placed(cluster, hosts);
    REQUIRE(job.num_ranks() == 5);
    for (std::int32_t r = 0; r < 5; ++r) CHECK(job.host_of(Rank{r}) == hosts[static_cast<std::size_t>(r)]);
    CHECK(job.node_of(Rank{0}) == b);
    CHECK(job.node_of(Rank{1}) != job.node_of(Rank{2}));
    CHECK(job.node_of(Rank{1}) == job.node_of(Rank{4}));  // the third rank of a host with two processes
    CHECK(job.route(Rank{1}, Rank{2}).size() == 2);
    CHECK(job.route(Rank{0}, Rank{3}).empty());
    CHECK(job.route(Rank{0}, Rank{1}) == cluster.route(Rank{2}, Rank{0}));
    CHECK_THROWS_AS(network::placed(cluster, std::vector{NodeId{0}}), InvalidInput);  // the switch
    CHECK_THROWS_AS(network::placed(cluster, std::vector<NodeId>{}), InvalidInput);
}
