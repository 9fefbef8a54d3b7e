// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/graphs.hpp"

#include <algorithm>
#include <numeric>

namespace hocket::search {
namespace {

std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

struct Maker {
    Graph graph;
    std::int32_t ports;
    base::Random& random;

    [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(graph.size()); }
    [[nodiscard]] bool has_port(std::int32_t node) const { return std::ssize(graph[at(node)]) < ports; }

    void join(std::int32_t a, std::int32_t b) {
        if (a == b || !has_port(a) || !has_port(b) || std::ranges::find(graph[at(a)], b) != graph[at(a)].end()) return;
        graph[at(a)].push_back(b);
        graph[at(b)].push_back(a);
    }
    void cycle(const std::vector<std::int32_t>& order) {
        for (std::size_t i = 0; i < order.size(); ++i) join(order[i], order[(i + 1) % order.size()]);
    }
    std::vector<std::int32_t> any_order() {
        std::vector<std::int32_t> order(graph.size());
        std::iota(order.begin(), order.end(), 0);
        for (std::int32_t i = size() - 1; i > 0; --i) std::swap(order[at(i)], order[random.below(i + 1)]);
        return order;
    }
    /// Joins nodes that still have ports, as far as chance finds them.
    void fill() {
        const std::vector<std::int32_t> order = any_order();
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (int tries = 0; tries < 8 && has_port(order[i]); ++tries)
                join(order[i], static_cast<std::int32_t>(random.below(size())));
            for (std::size_t j = i + 1; j < order.size() && has_port(order[i]); ++j) join(order[i], order[j]);
        }
    }
};

}  // namespace

Graph random_graph(GraphKind kind, std::int32_t n, std::int32_t ports, base::Random& random) {
    Maker maker{Graph(at(n)), std::min(ports, n - 1), random};
    if (kind == GraphKind::circulant && n >= 6) {
        for (std::int32_t pair = 0; pair < maker.ports / 2; ++pair) {
            const std::int32_t offset = pair == 0 ? 1 : static_cast<std::int32_t>(2 + random.below(n / 2 - 2));
            for (std::int32_t i = 0; i < n; ++i) maker.join(i, (i + offset) % n);
        }
        for (std::int32_t i = 0; n % 2 == 0 && i < n / 2; ++i) maker.join(i, i + n / 2);
    } else if (kind == GraphKind::cycles || maker.ports <= 2) {
        std::vector<std::int32_t> order(at(n));
        std::iota(order.begin(), order.end(), 0);
        maker.cycle(order);
        for (std::int32_t pair = 1; pair < maker.ports / 2; ++pair) maker.cycle(maker.any_order());
    } else {  // connected by a random path
        const std::vector<std::int32_t> order = maker.any_order();
        for (std::size_t i = 1; i < order.size(); ++i) maker.join(order[i - 1], order[i]);
    }
    maker.fill();
    return std::move(maker.graph);
}

Graph level_tree(std::int32_t n, std::int32_t ports) {
    Graph graph(at(n));
    std::int32_t parent = 0;
    for (std::int32_t node = 1; node < n; ++node) {
        while (std::ssize(graph[at(parent)]) >= ports) ++parent;
        graph[at(parent)].push_back(node);
        graph[at(node)].push_back(parent);
    }
    return graph;
}

void add_circuits(Graph& graph, std::int32_t ports, std::int32_t number, base::Random& random) {
    const auto n = static_cast<std::int32_t>(graph.size());
    for (std::int32_t i = 0; i < number; ++i) {
        const auto a = static_cast<std::int32_t>(random.below(n)), b = static_cast<std::int32_t>(random.below(n));
        if (a == b || std::ssize(graph[at(a)]) >= ports || std::ssize(graph[at(b)]) >= ports) continue;
        if (std::ranges::find(graph[at(a)], b) != graph[at(a)].end()) continue;
        graph[at(a)].push_back(b);
        graph[at(b)].push_back(a);
    }
}

std::vector<std::int32_t> distances(const Graph& graph, std::int32_t from) {
    std::vector<std::int32_t> distance(graph.size(), -1);
    std::vector<std::int32_t> queue{from};
    distance[at(from)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (const std::int32_t next : graph[at(queue[i])])
            if (distance[at(next)] < 0) {
                distance[at(next)] = distance[at(queue[i])] + 1;
                queue.push_back(next);
            }
    return distance;
}

}  // namespace hocket::search
