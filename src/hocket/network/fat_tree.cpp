// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// An extended generalised fat tree [Ohring95] with as many parents at each level as the level has children, so that its
// bisection is full. Let m[l] be the children of a switch of level l = 1..h and W[l] = m[1] ... m[l-1]. Level l has
// N / m[l] switches, numbered S * W[l] + q: S is the subtree of level l, q one of its W[l] parallel roots. Cable k < m[l]
// up from there leads to subtree S / m[l+1], root q + k * W[l]. Hosts are level 0 with W[0] = m[0] = 1.
//
// Routing is d-mod-k [Zahavi09]: towards host d the way up at level l takes cable (d / W[l]) mod m[l], so at every level
// the parallel root is q = d mod W[l], and the way down is the only one there is.

#include <algorithm>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/units.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

struct Level {
    std::int32_t children;     ///< m[l]
    std::int32_t parallel;     ///< W[l]
    std::int32_t hosts_below;  ///< m[1] ... m[l]
    std::int32_t first_node;
};

/// Levels 0 (the hosts) to h.
std::vector<Level> levels_of(const std::vector<std::int32_t>& widths) {
    std::vector<Level> levels{{1, 1, 1, 0}};
    std::int64_t hosts = 1, nodes = 0;
    for (const std::int32_t width : widths) hosts = std::min(hosts * width, max_nodes + 1);
    for (std::size_t l = 0; l <= widths.size(); ++l) {
        nodes += hosts / (l == 0 ? 1 : widths[l - 1]);
        if (nodes > max_nodes)
            throw InvalidInput("the network would have more than " + std::to_string(max_nodes) + " nodes",
                               "make it smaller");
        const Level& below = levels.back();
        if (l > 0)
            levels.push_back({widths[l - 1], below.parallel * below.children, below.hosts_below * widths[l - 1],
                              static_cast<std::int32_t>(nodes - hosts / widths[l - 1])});
    }
    return levels;
}

class FatTreeRouter final : public Router {
public:
    FatTreeRouter(std::vector<Level> levels, std::string generate_table)
        : levels_(std::move(levels)),
          num_hosts_(levels_.back().hosts_below),
          generate_table_(std::move(generate_table)) {}

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        const std::int32_t destination = b.value;
        HOCKET_ASSERT(a.value < num_hosts_ && destination < num_hosts_, "routes in a fat tree join hosts");
        std::size_t top = 0;
        while (a.value / levels_[top].hosts_below != destination / levels_[top].hosts_below) ++top;
        for (std::size_t l = 0; l < top; ++l) out.push_back(LinkId{2 * cable_up(l, a.value, destination)});
        for (std::size_t l = top; l-- > 0;) out.push_back(LinkId{2 * cable_up(l, destination, destination) + 1});
    }

    [[nodiscard]] std::optional<std::string> generate_table() const override { return generate_table_; }

private:
    /// The cable from level l to l+1, above host `below`, that leads to and from the roots for `destination`.
    [[nodiscard]] std::int32_t cable_up(std::size_t l, std::int32_t below, std::int32_t destination) const {
        const Level& level = levels_[l];
        const std::int32_t number = below / level.hosts_below * level.parallel + destination % level.parallel;
        const std::int32_t up = destination / level.parallel % level.children;
        return static_cast<std::int32_t>(l) * num_hosts_ + number * level.children + up;
    }

    std::vector<Level> levels_;
    std::int32_t num_hosts_;
    std::string generate_table_;
};

}  // namespace

Blueprint fat_tree(const std::vector<std::int32_t>& widths, const GenerateOptions& options) {
    const std::vector<Level> levels = levels_of(widths);
    const std::int32_t num_hosts = levels.back().hosts_below;
    Blueprint blueprint;
    std::string shape;
    for (const std::int32_t width : widths) shape += std::string(shape.empty() ? "" : "x") + std::to_string(width);
    blueprint.name = "fat-tree:" + shape;
    for (std::int32_t i = 0; i < num_hosts; ++i)
        blueprint.nodes.push_back({std::string("h") + std::to_string(i), NodeKind::host});
    for (std::size_t l = 1; l < levels.size(); ++l)
        for (std::int32_t i = 0; i < num_hosts / levels[l].children; ++i)
            blueprint.nodes.push_back(
                {std::string("s") + std::to_string(l) + "." + std::to_string(i), NodeKind::switch_, 0});
    for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
        const Level &level = levels[l], &above = levels[l + 1];
        for (std::int32_t i = 0; i < num_hosts / level.children; ++i) {
            const std::int32_t subtree = i / level.parallel, root = i % level.parallel;
            for (std::int32_t k = 0; k < level.children; ++k)
                blueprint.cables.push_back(
                    {level.first_node + i,
                     above.first_node + subtree / above.children * above.parallel + root + k * level.parallel,
                     options.bandwidth_bytes_per_s, options.bandwidth_bytes_per_s, options.latency_s,
                     options.latency_s});
        }
    }
    blueprint.router = std::make_shared<FatTreeRouter>(
        levels, "[generate]\nkind = \"fat-tree\"\nshape = \"" + shape + "\"\nbandwidth = \"" +
                    base::print_bandwidth(options.bandwidth_bytes_per_s) + "\"\nlatency = \"" +
                    base::print_duration(options.latency_s) + "\"\n");
    return blueprint;
}

}  // namespace hocket::network
