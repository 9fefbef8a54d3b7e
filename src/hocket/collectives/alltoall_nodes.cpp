// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// All-to-all of ranks on nodes that are far from each other. Shape::starts are the places where a node's ranks begin;
// nodes may have different numbers of ranks.

#include <vector>

#include "hocket/collectives/emitters.hpp"
#include "hocket/collectives/nodes.hpp"

namespace hocket::collectives {

namespace {

/// The blocks of a message, by sender and receiver.
class BlockList {
public:
    explicit BlockList(const Shape& shape) : shape_(shape) {}
    void add(std::int32_t source, std::int32_t target) {
        chunks.push_back({(source * shape_.num_ranks + target) * shape_.segments, shape_.segments});
    }
    std::vector<ChunkRange> chunks;

private:
    const Shape& shape_;
};

/// A message of each rank of the node to each other, with the chunks of `chunks_of(from, to)`: none where there are
/// none. What place `place` receives.
template <class ChunksOf>
std::vector<std::int32_t> exchange_within(RankSchedule& part, const Nodes& nodes, std::int32_t node, std::int32_t place,
                                          const ChunksOf& chunks_of, const std::vector<std::int32_t>& after) {
    std::vector<std::int32_t> received;
    const std::int32_t size = nodes.size(node);
    for (std::int32_t i = 1; i < size; ++i) {
        const std::int32_t to = around(place, i, size), from = around(place, -i, size);
        if (const auto chunks = chunks_of(place, to); !chunks.empty())
            part.add(OpKind::send, Rank{nodes.rank(node, to)}, chunks, after);
        if (const auto chunks = chunks_of(from, place); !chunks.empty())
            received.push_back(part.add(OpKind::recv, Rank{nodes.rank(node, from)}, chunks, {}));
    }
    return received;
}

}  // namespace

/// One message from each node to each other: within the node to its carrier, on to the carrier there, and from it to
/// the receivers.
RankSchedule node_aware_alltoall(std::int32_t v, const Shape& shape) {
    const Nodes nodes(shape);
    const std::int32_t own = nodes.node_of(v), place = nodes.place_of(v);
    RankSchedule part;
    // What `from` hands to the carrier `to`, on the own node; and with it the block for this one.
    const auto collected = [&](std::int32_t from, std::int32_t to) {
        BlockList blocks(shape);
        blocks.add(nodes.rank(own, from), nodes.rank(own, to));
        for (std::int32_t other = 0; other < nodes.num(); ++other)
            for (std::int32_t i = 0; other != own && carrier(nodes, own, other) == to && i < nodes.size(other); ++i)
                blocks.add(nodes.rank(own, from), nodes.rank(other, i));
        return blocks.chunks;
    };
    const auto between = [&](std::int32_t from, std::int32_t to) {
        BlockList blocks(shape);
        for (std::int32_t i = 0; i < nodes.size(from); ++i)
            for (std::int32_t j = 0; j < nodes.size(to); ++j) blocks.add(nodes.rank(from, i), nodes.rank(to, j));
        return blocks.chunks;
    };
    // What the carrier `from` has for `to`, on the own node.
    const auto distributed = [&](std::int32_t from, std::int32_t to) {
        BlockList blocks(shape);
        for (std::int32_t other = 0; other < nodes.num(); ++other)
            for (std::int32_t i = 0; other != own && carrier(nodes, own, other) == from && i < nodes.size(other); ++i)
                blocks.add(nodes.rank(other, i), nodes.rank(own, to));
        return blocks.chunks;
    };
    const std::vector<std::int32_t> collecting = exchange_within(part, nodes, own, place, collected, {});
    std::vector<std::int32_t> carried;
    for (std::int32_t i = 1; i < nodes.num(); ++i) {
        const std::int32_t other = around(own, i, nodes.num());
        if (carrier(nodes, own, other) != place) continue;
        const Rank peer{nodes.rank(other, carrier(nodes, other, own))};
        part.add(OpKind::send, peer, between(own, other), collecting);
        carried.push_back(part.add(OpKind::recv, peer, between(other, own), {}));
    }
    exchange_within(part, nodes, own, place, distributed, carried);
    return part;
}

/// Along the node, then across nodes: each rank gets from the others of its node their blocks for the ranks at its own
/// place of other nodes, where it sends them. Of a node with more ranks than its own it has several places.
RankSchedule alltoall_by_dimension(std::int32_t v, const Shape& shape) {
    const Nodes nodes(shape);
    const std::int32_t own = nodes.node_of(v), place = nodes.place_of(v), size = nodes.size(own);
    RankSchedule part;
    const auto along = [&](std::int32_t from, std::int32_t to) {
        BlockList blocks(shape);
        blocks.add(nodes.rank(own, from), nodes.rank(own, to));
        for (std::int32_t other = 0; other < nodes.num(); ++other)
            for (std::int32_t i = to; other != own && i < nodes.size(other); i += size)
                blocks.add(nodes.rank(own, from), nodes.rank(other, i));
        return blocks.chunks;
    };
    const auto across = [&](std::int32_t node, std::int32_t target) {
        BlockList blocks(shape);
        for (std::int32_t i = 0; i < nodes.size(node); ++i) blocks.add(nodes.rank(node, i), target);
        return blocks.chunks;
    };
    const std::vector<std::int32_t> received = exchange_within(part, nodes, own, place, along, {});
    for (std::int32_t i = 1; i < nodes.num(); ++i) {
        const std::int32_t to = around(own, i, nodes.num()), from = around(own, -i, nodes.num());
        for (std::int32_t j = place; j < nodes.size(to); j += size)
            part.add(OpKind::send, Rank{nodes.rank(to, j)}, across(own, nodes.rank(to, j)), received);
        part.add(OpKind::recv, Rank{nodes.rank(from, place % nodes.size(from))}, across(from, v), {});
    }
    return part;
}

}  // namespace hocket::collectives
