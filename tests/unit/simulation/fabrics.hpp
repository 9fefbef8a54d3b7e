// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <vector>

#include "hocket/network/fabric.hpp"

/// Fabrics for tests and measurements.
namespace hocket::examples {

/// The links of a network, one by one.
class NetworkFabric final : public network::Fabric {
public:
    explicit NetworkFabric(const Network& network)
        : network_(network), bandwidths_(static_cast<std::size_t>(network.num_capacities())) {
        for (const Link& link : network.links())
            bandwidths_[static_cast<std::size_t>(link.capacity)] = link.bandwidth_bytes_per_s;
    }
    [[nodiscard]] std::int32_t num_ranks() const override { return network_.num_ranks(); }
    [[nodiscard]] std::int32_t num_links() const override { return static_cast<std::int32_t>(network_.links().size()); }
    [[nodiscard]] std::int32_t num_capacities() const override { return network_.num_capacities(); }
    [[nodiscard]] double bandwidth_bytes_per_s(std::int32_t capacity) const override {
        return bandwidths_[static_cast<std::size_t>(capacity)];
    }
    [[nodiscard]] std::int32_t capacity_of(LinkId l) const override { return network_.link(l).capacity; }
    [[nodiscard]] double latency_s(LinkId l) const override { return network_.link(l).latency_s; }
    void route(Rank a, Rank b, std::vector<LinkId>& out) const override { network_.route(a, b, out); }
    [[nodiscard]] std::string name() const override { return network_.name(); }
    [[nodiscard]] std::int32_t num_nodes() const override { return static_cast<std::int32_t>(network_.nodes().size()); }
    [[nodiscard]] std::string node_name(NodeId n) const override { return network_.node(n).name; }
    [[nodiscard]] NodeId node_of(Rank r) const override { return network_.node_of(r); }
    [[nodiscard]] Ends ends(LinkId l) const override { return {network_.link(l).source, network_.link(l).target}; }

private:
    const Network& network_;
    std::vector<double> bandwidths_;
};

/// A fat tree of three levels, n1 x n2 x n3, without tables: links and routes are numbered as those of
/// network::fat_tree({n1, n2, n3}).
class FatTree3 final : public network::Fabric {
public:
    FatTree3(std::int32_t n1, std::int32_t n2, std::int32_t n3, double bandwidth_bytes_per_s, double latency_s = 0)
        : children_{n1, n2, n3}, hosts_(n1 * n2 * n3), bandwidth_(bandwidth_bytes_per_s), latency_s_(latency_s) {}
    [[nodiscard]] std::int32_t num_ranks() const override { return hosts_; }
    [[nodiscard]] std::int32_t num_links() const override { return 6 * hosts_; }
    [[nodiscard]] std::int32_t num_capacities() const override { return 6 * hosts_; }
    [[nodiscard]] double bandwidth_bytes_per_s(std::int32_t) const override { return bandwidth_; }
    [[nodiscard]] std::int32_t capacity_of(LinkId l) const override { return l.value; }
    [[nodiscard]] double latency_s(LinkId) const override { return latency_s_; }
    void route(Rank a, Rank b, std::vector<LinkId>& out) const override {
        out.clear();
        const std::int32_t below[3] = {1, children_[0], children_[0] * children_[1]};
        const std::int32_t parallel[3] = {1, 1, children_[0]};
        std::int32_t up[3];
        std::size_t top = 0;
        for (; top < 3 && a.value / below[top] != b.value / below[top]; ++top) {
            const std::int32_t width = top == 0 ? 1 : children_[top - 1];
            const std::int32_t root = b.value % parallel[top], cable = b.value / parallel[top] % width;
            const auto number = [&](std::int32_t host) {
                return static_cast<std::int32_t>(top) * hosts_ + (host / below[top] * parallel[top] + root) * width +
                       cable;
            };
            out.push_back(LinkId{2 * number(a.value)});
            up[top] = number(b.value);
        }
        while (top-- > 0) out.push_back(LinkId{2 * up[top] + 1});
    }
    // Its switches are not asked for.
    [[nodiscard]] std::string name() const override { return "fat tree"; }
    [[nodiscard]] std::int32_t num_nodes() const override { return hosts_; }
    [[nodiscard]] std::string node_name(NodeId n) const override { return "h" + std::to_string(n.value); }
    [[nodiscard]] NodeId node_of(Rank r) const override { return NodeId{r.value}; }
    [[nodiscard]] Ends ends(LinkId) const override { return {}; }

private:
    std::int32_t children_[3];
    std::int32_t hosts_;
    double bandwidth_, latency_s_;
};

}  // namespace hocket::examples
