// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/edge_coloring.hpp"

#include <algorithm>

namespace hocket::search {

namespace {

/// Which edge has a colour at a node.
class Colors {
public:
    Colors(std::size_t num_nodes, std::size_t num_colors)
        : num_colors_(num_colors), edge_(num_nodes * num_colors, -1) {}

    std::int32_t& edge(std::int32_t node, std::int32_t color) {
        return edge_[static_cast<std::size_t>(node) * num_colors_ + static_cast<std::size_t>(color)];
    }
    std::int32_t first_free(std::int32_t node) {
        std::int32_t color = 0;
        while (edge(node, color) >= 0) ++color;
        return color;
    }

private:
    std::size_t num_colors_;
    std::vector<std::int32_t> edge_;
};

}  // namespace

std::vector<std::int32_t> edge_coloring(std::int32_t num_left, std::int32_t num_right,
                                        std::span<const BipartiteEdge> edges) {
    const auto num_nodes = static_cast<std::size_t>(num_left) + static_cast<std::size_t>(num_right);
    std::vector<std::size_t> degree(num_nodes, 0);
    const auto right_of = [&](std::int32_t e) { return num_left + edges[static_cast<std::size_t>(e)].right; };
    const auto left_of = [&](std::int32_t e) { return edges[static_cast<std::size_t>(e)].left; };
    const auto num_edges = static_cast<std::int32_t>(edges.size());
    for (std::int32_t e = 0; e < num_edges; ++e) {
        ++degree[static_cast<std::size_t>(left_of(e))];
        ++degree[static_cast<std::size_t>(right_of(e))];
    }
    std::vector<std::int32_t> result(edges.size(), -1);
    if (edges.empty()) return result;
    Colors colors(num_nodes, *std::max_element(degree.begin(), degree.end()));
    const auto paint = [&](std::int32_t e, std::int32_t color) {
        result[static_cast<std::size_t>(e)] = color;
        colors.edge(left_of(e), color) = colors.edge(right_of(e), color) = e;
    };
    std::vector<std::int32_t> path;
    for (std::int32_t e = 0; e < num_edges; ++e) {
        const std::int32_t a = colors.first_free(left_of(e));
        if (colors.edge(right_of(e), a) >= 0) {
            // Exchange a and b along the path that leaves the right node by a. It comes to left nodes by a only, so it
            // does not reach this edge's, where a is free.
            const std::int32_t b = colors.first_free(right_of(e));
            path.clear();
            std::int32_t node = right_of(e);
            for (std::int32_t color = a; colors.edge(node, color) >= 0; color = a + b - color) {
                path.push_back(colors.edge(node, color));
                node = node == right_of(path.back()) ? left_of(path.back()) : right_of(path.back());
            }
            for (const std::int32_t p : path) {
                const std::int32_t color = result[static_cast<std::size_t>(p)];
                colors.edge(left_of(p), color) = colors.edge(right_of(p), color) = -1;
            }
            for (const std::int32_t p : path) paint(p, a + b - result[static_cast<std::size_t>(p)]);
        }
        paint(e, a);
    }
    return result;
}

}  // namespace hocket::search
