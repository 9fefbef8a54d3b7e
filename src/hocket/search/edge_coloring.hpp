// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hocket::search {

struct BipartiteEdge {
    std::int32_t left, right;
};

/// A colour 0 .. c-1 for each edge of a bipartite multigraph, where c is its largest degree, such that the edges at a
/// node have different colours. There always is one [Konig16]. O(edges * nodes).
std::vector<std::int32_t> edge_coloring(std::int32_t num_left, std::int32_t num_right,
                                        std::span<const BipartiteEdge> edges);

}  // namespace hocket::search
