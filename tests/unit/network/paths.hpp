// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/network/generate.hpp"

/// What the tests of networks ask of routes.
namespace hocket::examples {

/// A route joins its ends link by link, and visits no node twice.
inline void check_route(const Network& n, Rank a, Rank b, const std::vector<LinkId>& route) {
    NodeId at = n.node_of(a);
    std::set<NodeId> seen{at};
    for (const LinkId l : route) {
        REQUIRE(n.link(l).source == at);
        at = n.link(l).target;
        REQUIRE(seen.insert(at).second);
    }
    REQUIRE(at == n.node_of(b));
}

/// Links on a shortest path from `a` to each node, by breadth-first search.
inline std::vector<std::size_t> distances(const Network& n, Rank a) {
    std::vector<std::size_t> distance(n.nodes().size(), n.nodes().size());
    std::deque<NodeId> queue{n.node_of(a)};
    distance[queue.front().at()] = 0;
    for (; !queue.empty(); queue.pop_front())
        for (const LinkId l : n.links_from(queue.front()))
            if (const NodeId next = n.link(l).target; distance[next.at()] > distance[queue.front().at()] + 1) {
                distance[next.at()] = distance[queue.front().at()] + 1;
                queue.push_back(next);
            }
    return distance;
}

/// The names of the nodes from `a` to `b`.
inline std::vector<std::string> names_on(const Network& n, Rank a, Rank b) {
    std::vector<std::string> names{n.node(n.node_of(a)).name};
    for (const LinkId l : n.route(a, b)) names.push_back(n.node(n.link(l).target).name);
    return names;
}

template <class Function>
std::string message_of(Function function) {
    try {
        function();
    } catch (const InvalidInput& error) {
        return std::string(error.what()) + " | " + error.hint();
    }
    return "accepted";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace hocket::examples
