// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/decision/node_rounds.hpp"

#include <vector>

#include "hocket/collectives/nodes.hpp"

namespace hocket::decision {

namespace {

using Messages = std::vector<cost::Rounds::Message>;
using collectives::Nodes;

/// From each rank of a node to each other of it, so many blocks.
template <class Blocks>
void add_within(Messages& messages, const Nodes& nodes, std::int32_t node, const Blocks& blocks) {
    for (std::int32_t from = 0; from < nodes.size(node); ++from)
        for (std::int32_t to = 0; to < nodes.size(node); ++to)
            if (const std::int64_t num = from == to ? 0 : blocks(from, to); num > 0)
                messages.push_back({nodes.rank(node, from), nodes.rank(node, to), static_cast<double>(num), false});
}

/// [place] the ranks of all other nodes that this place of the node has to do with
template <class PlacesOf>
std::vector<std::int64_t> far_ranks(const Nodes& nodes, std::int32_t node, const PlacesOf& places_of) {
    std::vector<std::int64_t> found(static_cast<std::size_t>(nodes.size(node)), 0);
    for (std::int32_t other = 0; other < nodes.num(); ++other)
        if (other != node) places_of(other, found);
    return found;
}

std::vector<Messages> node_aware(const Nodes& nodes) {
    std::vector<Messages> rounds(3);
    for (std::int32_t node = 0; node < nodes.num(); ++node) {
        const auto carried = far_ranks(nodes, node, [&](std::int32_t other, std::vector<std::int64_t>& found) {
            const std::int32_t place = collectives::carrier(nodes, node, other);
            found[static_cast<std::size_t>(place)] += nodes.size(other);
            rounds[1].push_back({nodes.rank(node, place), nodes.rank(other, collectives::carrier(nodes, other, node)),
                                 static_cast<double>(nodes.size(node)) * nodes.size(other), false});
        });
        const auto of = [&](std::int32_t place) { return carried[static_cast<std::size_t>(place)]; };
        add_within(rounds[0], nodes, node, [&](std::int32_t, std::int32_t to) { return 1 + of(to); });
        add_within(rounds[2], nodes, node, [&](std::int32_t from, std::int32_t) { return of(from); });
    }
    return rounds;
}

std::vector<Messages> by_dimension(const Nodes& nodes) {
    std::vector<Messages> rounds(2);
    for (std::int32_t node = 0; node < nodes.num(); ++node) {
        const std::int32_t size = nodes.size(node);
        const auto along = far_ranks(nodes, node, [&](std::int32_t other, std::vector<std::int64_t>& found) {
            for (std::int32_t i = 0; i < nodes.size(other); ++i) {
                ++found[static_cast<std::size_t>(i % size)];
                rounds[1].push_back(
                    {nodes.rank(node, i % size), nodes.rank(other, i), static_cast<double>(size), false});
            }
        });
        add_within(rounds[0], nodes, node,
                   [&](std::int32_t, std::int32_t to) { return 1 + along[static_cast<std::size_t>(to)]; });
    }
    return rounds;
}

}  // namespace

cost::Rounds node_rounds(const collectives::Algorithm& algorithm, const collectives::Shape& shape) {
    const Nodes nodes(shape);
    cost::Rounds found{shape.num_ranks, {}};
    for (Messages& messages : algorithm.name == "node_aware" ? node_aware(nodes) : by_dimension(nodes))
        if (!messages.empty()) found.rounds.push_back({std::move(messages), 1});
    return found;
}

}  // namespace hocket::decision
