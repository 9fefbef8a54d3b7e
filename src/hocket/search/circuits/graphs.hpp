// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/base/random.hpp"

/// Graphs whose nodes have at most so many neighbours: one configuration of circuits.
namespace hocket::search {

using Graph = std::vector<std::vector<std::int32_t>>;  ///< neighbours of each node

enum class GraphKind {
    cycles,     ///< random Hamiltonian cycles, and a random matching for an odd number of ports
    circulant,  ///< i to i + 1 and to i plus random offsets
    random,
};

/// A connected graph of n >= 2 nodes; with one port of 2 nodes. With more ports than n - 1 it is complete.
Graph random_graph(GraphKind, std::int32_t n, std::int32_t ports, base::Random&);

/// A tree in which node 0 has `ports` children and the others one less, filled by levels. ports >= 2, or n <= 2.
Graph level_tree(std::int32_t n, std::int32_t ports);

/// Up to `number` more, between nodes by chance that have ports left.
void add_circuits(Graph&, std::int32_t ports, std::int32_t number, base::Random&);

/// Distance of each node from `from`; -1: there is no way.
std::vector<std::int32_t> distances(const Graph&, std::int32_t from);

}  // namespace hocket::search
