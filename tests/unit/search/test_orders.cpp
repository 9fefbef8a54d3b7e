// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "hocket/base/error.hpp"
#include "hocket/network/depth_first.hpp"
#include "hocket/search/orders.hpp"
#include "random_networks.hpp"

using namespace hocket;
using namespace hocket::search;
using network::Branch;
using network::depth_first_order;

namespace {

std::vector<Rank> ranks_below(std::int32_t n) {
    std::vector<Rank> ranks;
    for (std::int32_t r = 0; r < n; ++r) ranks.emplace_back(r);
    return ranks;
}

/// Most flows on a directed link, counted apart from what the search uses.
std::int32_t most_flows(const Network& network, const std::vector<Rank>& members, const std::vector<Rank>& order,
                        bool ring) {
    std::map<LinkId, std::int32_t> flows;
    std::int32_t most = 0;
    for (std::size_t i = 0; i + (ring ? 0 : 1) < order.size(); ++i)
        for (const LinkId l : network.route(members[order[i].at()], members[order[(i + 1) % order.size()].at()]))
            most = std::max(most, ++flows[l]);
    return most;
}

bool is_permutation(std::vector<Rank> order, std::size_t n) {
    std::sort(order.begin(), order.end());
    return order == ranks_below(static_cast<std::int32_t>(n));
}

}  // namespace

TEST_CASE("on a full-duplex tree a ring in depth-first order crosses each directed link at most once") {
    base::Random random(3);
    for (int sample = 0; sample < 300; ++sample) {
        const auto num_ranks = static_cast<std::int32_t>(1 + random.below(20));
        const Network network =
            examples::random_tree(random, static_cast<std::int32_t>(1 + random.below(15)), num_ranks);
        std::vector<Rank> members = ranks_below(num_ranks);
        for (std::size_t i = members.size(); i-- > 1;)
            std::swap(members[i], members[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
        members.resize(static_cast<std::size_t>(1 + random.below(num_ranks)));
        const Rank start{static_cast<std::int32_t>(random.below(static_cast<std::int64_t>(members.size())))};
        for (const Branch branch :
             {Branch::listed, Branch::fastest_first, Branch::slowest_first, Branch::deepest_last}) {
            const std::vector<Rank> order = depth_first_order(network, members, start, branch);
            REQUIRE(is_permutation(order, members.size()));
            CHECK(order.front() == start);
            CHECK(most_flows(network, members, order, true) <= 1);
            CHECK(congestion_of(network, members, order, Walk::ring).most_flows ==
                  most_flows(network, members, order, true));
        }
    }
}

TEST_CASE("branches in the order asked for") {
    // A hub with leaves of 3, 1 and 2 MB/s, the second at the end of a longer way.
    std::vector<Node> nodes = {
        {"hub", NodeKind::host}, {"a", NodeKind::host}, {"b", NodeKind::host}, {"c", NodeKind::host}};
    std::vector<Link> links;
    const double bandwidths[] = {3e6, 1e6, 2e6}, latencies[] = {1e-6, 2e-6, 5e-6};
    for (std::int32_t i = 1; i < 4; ++i)
        for (const auto& [from, to] : {std::pair{0, i}, std::pair{i, 0}})
            links.push_back({NodeId{from}, NodeId{to}, bandwidths[i - 1], latencies[i - 1],
                             static_cast<std::int32_t>(links.size())});
    const Network network("hub", nodes, links, {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}});
    const auto order = [&](Branch branch) {
        std::vector<std::int32_t> values;
        for (const Rank r : depth_first_order(network, ranks_below(4), Rank{0}, branch)) values.push_back(r.value);
        return values;
    };
    CHECK(order(Branch::listed) == std::vector{0, 1, 2, 3});
    CHECK(order(Branch::fastest_first) == std::vector{0, 1, 3, 2});
    CHECK(order(Branch::slowest_first) == std::vector{0, 2, 3, 1});
    CHECK(order(Branch::deepest_last) == std::vector{0, 1, 2, 3});
}

TEST_CASE("local search undoes a bad order") {
    for (const char* kind : {"two-clusters:8+8", "torus:4x4", "fat-tree:2x2x4", "fat-tree:4x4x8/2x2"}) {
        CAPTURE(kind);
        const Network network = examples::generated(kind);
        const std::vector<Rank> members = ranks_below(network.num_ranks());
        std::vector<Rank> bad = members;
        base::Random random(1);
        for (std::size_t i = bad.size(); i-- > 2;)
            std::swap(bad[i], bad[static_cast<std::size_t>(1 + random.below(static_cast<std::int64_t>(i)))]);
        for (const Walk walk : {Walk::ring, Walk::chain, Walk::backward}) {
            const FoundOrder found = improve_order(network, members, bad, walk);
            CHECK(is_permutation(found.order, members.size()));
            CHECK(found.order.front() == bad.front());
            const Congestion before = congestion_of(network, members, bad, walk);
            const Congestion after = congestion_of(network, members, found.order, walk);
            CHECK(after.busiest_s_per_byte < before.busiest_s_per_byte);
            CHECK(after.most_flows == found.congestion.most_flows);
            CHECK(after.most_flows <= 2);
            CHECK(improve_order(network, members, bad, walk).order == found.order);
        }
    }
}

TEST_CASE("wrong orders are refused") {
    const Network star = examples::generated("star:3");
    const auto members = ranks_below(3);
    CHECK_THROWS_AS(congestion_of(star, members, ranks_below(2), Walk::ring), InvalidInput);
    CHECK_THROWS_AS(congestion_of(star, members, std::vector{Rank{0}, Rank{1}, Rank{1}}, Walk::ring), InvalidInput);
    CHECK_THROWS_AS(congestion_of(star, members, std::vector{Rank{0}, Rank{1}, Rank{3}}, Walk::ring), InvalidInput);
    CHECK_THROWS_AS(depth_first_order(star, members, Rank{3}, Branch::listed), InvalidInput);
    CHECK_THROWS_AS(walk_from("spiral"), InvalidInput);
}
