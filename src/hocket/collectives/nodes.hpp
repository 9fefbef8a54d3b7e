// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>

#include "hocket/collectives/emitters.hpp"

namespace hocket::collectives {

/// The ranks of a node are those from its start to the next one, around all ranks.
class Nodes {
public:
    explicit Nodes(const Shape& shape) : shape_(shape) {}

    [[nodiscard]] std::int32_t num() const { return block_for_each_start(shape_); }
    [[nodiscard]] std::int32_t size(std::int32_t node) const {
        const std::int32_t ranks = around(start(node + 1 == num() ? 0 : node + 1), -start(node), shape_.num_ranks);
        return ranks == 0 ? shape_.num_ranks : ranks;
    }
    [[nodiscard]] std::int32_t rank(std::int32_t node, std::int32_t place) const {
        return around(start(node), place, shape_.num_ranks);
    }
    [[nodiscard]] std::int32_t node_of(std::int32_t v) const {
        if (shape_.starts.empty()) return v;
        const auto after = std::upper_bound(shape_.starts.begin(), shape_.starts.end(), v);
        return static_cast<std::int32_t>((after == shape_.starts.begin() ? shape_.starts.end() : after) -
                                         shape_.starts.begin()) -
               1;
    }
    [[nodiscard]] std::int32_t place_of(std::int32_t v) const {
        return around(v, -start(node_of(v)), shape_.num_ranks);
    }

private:
    [[nodiscard]] std::int32_t start(std::int32_t node) const {
        return shape_.starts.empty() ? node : shape_.starts[static_cast<std::size_t>(node)];
    }
    const Shape& shape_;
};

/// Whom the ranks of a node give what is for another node, the next nodes to the first ranks in turn; it is as well the
/// one who gets what comes from there.
inline std::int32_t carrier(const Nodes& nodes, std::int32_t node, std::int32_t other) {
    return (around(other, -node, nodes.num()) - 1) % nodes.size(node);
}

}  // namespace hocket::collectives
