// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/search/tree.hpp"

/// The trees of [Hourai], figures 11 to 14, and random ones.
namespace hocket::examples {

// Measured times of 1 MB: 2.2 ms from a processor to the hub of its node, 10.1 ms over Gigabit, 86 ms over Fast
// Ethernet.
constexpr std::int64_t memory = 454'545'500, gigabit = 99'009'900, fast_ethernet = 11'627'880;

class TreeBuilder {
public:
    std::int32_t relay() { return num_nodes_++; }
    std::int32_t computer() {
        computers_.push_back(num_nodes_);
        return num_nodes_++;
    }
    void cable(std::int32_t a, std::int32_t b, std::int64_t bandwidth, std::int64_t delay_ns = 0) {
        cables_.push_back({a, b, {bandwidth, bandwidth}, {delay_ns, delay_ns}});
    }
    void add(const search::Cable& cable) { cables_.push_back(cable); }
    /// Nodes of two processors on a switch.
    void cluster(std::int32_t hub, std::int32_t nodes, std::int64_t bandwidth, std::int64_t delay_ns = 0,
                 std::int64_t memory_delay_ns = 0) {
        for (std::int32_t i = 0; i < nodes; ++i) {
            const std::int32_t node = relay();
            cable(hub, node, bandwidth, delay_ns);
            for (int k = 0; k < 2; ++k) cable(node, computer(), memory, memory_delay_ns);
        }
    }
    [[nodiscard]] search::Tree tree(std::int64_t bytes = 1'000'000) const {
        return {num_nodes_, computers_, cables_, bytes};
    }

private:
    std::int32_t num_nodes_ = 0;
    std::vector<std::int32_t> computers_;
    std::vector<search::Cable> cables_;
};

inline search::Tree star(std::int32_t computers, std::int64_t delay_ns = 0) {
    TreeBuilder builder;
    const std::int32_t hub = builder.relay();
    for (std::int32_t i = 0; i < computers; ++i) builder.cable(hub, builder.computer(), gigabit, delay_ns);
    return builder.tree();
}
inline search::Tree dual(std::int32_t nodes, std::int64_t delay_ns = 0, std::int64_t memory_delay_ns = 0) {
    TreeBuilder builder;
    builder.cluster(builder.relay(), nodes, gigabit, delay_ns, memory_delay_ns);
    return builder.tree();
}
inline search::Tree two_clusters(std::int32_t nodes, std::int64_t first, std::int64_t between) {
    TreeBuilder builder;
    const std::int32_t a = builder.relay(), b = builder.relay();
    builder.cable(a, b, between);
    builder.cluster(a, nodes, first);
    builder.cluster(b, nodes, gigabit);
    return builder.tree();
}

/// Up to four inner nodes, some of them computers; bandwidths from few or many values, different in each direction or
/// not; with and without delays and half-duplex cables.
inline search::Tree random_tree(base::Random& random, std::int32_t computers) {
    TreeBuilder builder;
    std::vector<std::int32_t> inner;
    const std::int64_t kind = random.below(3);
    const bool delays = random.below(2) == 0, half_duplex = random.below(2) == 0,
               inner_computers = random.below(2) == 0;
    const auto bandwidth = [&]() -> std::int64_t {
        if (kind == 0) return (1 + random.below(10)) * 10'000'000;
        if (kind == 1) return random.below(2) == 0 ? fast_ethernet : gigabit;
        return (1 + random.below(3)) * 10'000'000;
    };
    const auto delay = [&] { return delays ? random.below(4) * 1'000'000 : 0; };
    const auto join = [&](std::int32_t a, std::int32_t b) {
        search::Cable cable{a, b, {bandwidth(), bandwidth()}, {delay(), delay()}};
        cable.half_duplex = half_duplex && random.below(2) == 0;
        if (cable.half_duplex || random.below(2) == 0) cable.bandwidth[1] = cable.bandwidth[0];
        builder.add(cable);
    };
    const std::int64_t num_inner = 1 + random.below(4);
    for (std::int64_t i = 0; i < num_inner; ++i) {
        const bool is_computer = inner_computers && computers > 2 && random.below(2) == 0;
        const std::int32_t node = is_computer ? builder.computer() : builder.relay();
        if (is_computer) --computers;
        if (i > 0) join(inner[static_cast<std::size_t>(random.below(i))], node);
        inner.push_back(node);
    }
    while (computers-- > 0) join(inner[static_cast<std::size_t>(random.below(num_inner))], builder.computer());
    return builder.tree();
}

/// No two cables need be alike: those of perf/clusters.py, RandomTree.
inline search::Tree unequal_tree(std::int32_t leaves, std::uint64_t seed) {
    base::Random random(seed);
    TreeBuilder builder;
    std::vector<std::int32_t> switches;
    const auto join = [&](std::int32_t node) {
        const std::int64_t bandwidth = (1 + random.below(10)) * 10'000'000;
        builder.cable(switches[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(switches.size())))],
                      node, bandwidth);
    };
    const std::int64_t num_switches = 1 + random.below(leaves / 3 + 1);
    for (std::int64_t i = 0; i < num_switches; ++i) {
        const std::int32_t node = builder.relay();
        if (i > 0) join(node);
        switches.push_back(node);
    }
    for (std::int32_t i = 0; i < leaves; ++i) join(builder.computer());
    return builder.tree();
}

}  // namespace hocket::examples
