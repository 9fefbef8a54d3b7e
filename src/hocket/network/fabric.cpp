// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/fabric.hpp"

#include "hocket/network/regular.hpp"

namespace hocket::network {
namespace {

class NetworkFabric final : public Fabric {
public:
    explicit NetworkFabric(std::shared_ptr<const Network> network)
        : network_(std::move(network)), bandwidths_(static_cast<std::size_t>(network_->num_capacities())) {
        for (const Link& link : network_->links())
            bandwidths_[static_cast<std::size_t>(link.capacity)] = link.bandwidth_bytes_per_s;
    }
    [[nodiscard]] std::int32_t num_ranks() const override { return network_->num_ranks(); }
    [[nodiscard]] std::int32_t num_links() const override {
        return static_cast<std::int32_t>(network_->links().size());
    }
    [[nodiscard]] std::int32_t num_capacities() const override { return network_->num_capacities(); }
    [[nodiscard]] double bandwidth_bytes_per_s(std::int32_t capacity) const override {
        return bandwidths_[static_cast<std::size_t>(capacity)];
    }
    [[nodiscard]] std::int32_t capacity_of(LinkId l) const override { return network_->link(l).capacity; }
    [[nodiscard]] double latency_s(LinkId l) const override { return network_->link(l).latency_s; }
    void route(Rank a, Rank b, std::vector<LinkId>& out) const override { network_->route(a, b, out); }
    [[nodiscard]] std::string name() const override { return network_->name(); }
    [[nodiscard]] std::int32_t num_nodes() const override {
        return static_cast<std::int32_t>(network_->nodes().size());
    }
    [[nodiscard]] std::string node_name(NodeId n) const override { return network_->node(n).name; }
    [[nodiscard]] NodeId node_of(Rank r) const override { return network_->node_of(r); }
    [[nodiscard]] Ends ends(LinkId l) const override { return {network_->link(l).source, network_->link(l).target}; }

private:
    std::shared_ptr<const Network> network_;
    std::vector<double> bandwidths_;  // [capacity]
};

/// Rank r sits on host r, and every link has a capacity of its own.
class RegularFabric final : public Fabric {
public:
    explicit RegularFabric(std::shared_ptr<const Regular> regular) : regular_(std::move(regular)) {}
    [[nodiscard]] std::int32_t num_ranks() const override { return regular_->num_hosts(); }
    [[nodiscard]] std::int32_t num_links() const override { return 2 * regular_->num_cables(); }
    [[nodiscard]] std::int32_t num_capacities() const override { return num_links(); }
    [[nodiscard]] double bandwidth_bytes_per_s(std::int32_t) const override {
        return regular_->bandwidth_bytes_per_s();
    }
    [[nodiscard]] std::int32_t capacity_of(LinkId l) const override { return l.value; }
    [[nodiscard]] double latency_s(LinkId) const override { return regular_->latency_s(); }
    void route(Rank a, Rank b, std::vector<LinkId>& out) const override {
        out.clear();
        if (a != b) regular_->route(NodeId{a.value}, NodeId{b.value}, out);
    }
    [[nodiscard]] std::string name() const override { return regular_->name(); }
    [[nodiscard]] std::int32_t num_nodes() const override { return regular_->num_nodes(); }
    [[nodiscard]] std::string node_name(NodeId n) const override { return regular_->node_name(n.value); }
    [[nodiscard]] NodeId node_of(Rank r) const override { return NodeId{r.value}; }
    [[nodiscard]] Ends ends(LinkId l) const override {
        const Regular::Cable cable = regular_->cable(l.value / 2);
        const NodeId first{cable.first}, second{cable.second};
        return l.value % 2 == 0 ? Ends{first, second} : Ends{second, first};
    }

private:
    std::shared_ptr<const Regular> regular_;
};

}  // namespace

std::unique_ptr<Fabric> make_fabric(const Network& network) {
    // The network belongs to the caller: nothing to delete.
    return std::make_unique<NetworkFabric>(std::shared_ptr<const Network>(std::shared_ptr<void>(), &network));
}

std::unique_ptr<Fabric> make_fabric(std::string_view kind_and_shape, const GenerateOptions& options) {
    if (auto regular = make_regular(kind_and_shape, options))
        return std::make_unique<RegularFabric>(std::move(regular));
    return std::make_unique<NetworkFabric>(std::make_shared<Network>(build(generate(kind_and_shape, options))));
}

}  // namespace hocket::network
