// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A root switch with widths[0] children, each with widths[1] children, ...; the last level are the hosts. A star is the
// tree of one level. Nodes: the hosts, then the switches from the root s0 down, level by level. Cables: likewise from
// the root down, each from a child to its parent.

#include "hocket/base/error.hpp"
#include "hocket/network/regular.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {
namespace {

class Tree final : public Regular {
public:
    struct Level {
        std::int32_t children;                 ///< of each switch of this level
        std::int32_t hosts_below;              ///< each of them
        std::int32_t first_node, first_cable;  ///< the switches; the cables to their children
    };

    Tree(const char* kind, std::string shape, Size size, std::vector<Level> levels, const GenerateOptions& options)
        : Regular(kind, std::move(shape), size, options), levels_(std::move(levels)) {}

    [[nodiscard]] std::string switch_name(std::int32_t node) const override {
        return "s" + std::to_string(node - num_hosts());
    }

    [[nodiscard]] Cable cable(std::int32_t number) const override {
        std::size_t l = levels_.size() - 1;
        while (number < levels_[l].first_cable) --l;
        const std::int32_t child = number - levels_[l].first_cable;
        return {(l + 1 == levels_.size() ? 0 : levels_[l + 1].first_node) + child,
                levels_[l].first_node + child / levels_[l].children};
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        HOCKET_ASSERT(a.value < num_hosts() && b.value < num_hosts(), "routes in a tree join hosts");
        std::size_t top = levels_.size() - 1;  // the lowest level with a switch above both
        while (a.value / levels_[top].hosts_below != b.value / levels_[top].hosts_below) --top;
        const auto cable_to = [&](std::size_t l, NodeId host) {
            return levels_[l].first_cable + host.value / (levels_[l].hosts_below / levels_[l].children);
        };
        for (std::size_t l = levels_.size(); l-- > top;) out.push_back(LinkId{2 * cable_to(l, a)});
        for (std::size_t l = top; l < levels_.size(); ++l) out.push_back(LinkId{2 * cable_to(l, b) + 1});
    }

    /// Its nodes and links determine all.
    [[nodiscard]] Routing routing() const override { return {}; }

private:
    std::vector<Level> levels_;  // from the root down
};

std::shared_ptr<const Regular> make(const char* kind, const std::vector<std::int32_t>& widths,
                                    const GenerateOptions& options) {
    Regular::Size size{1, 0, 0};
    for (const std::int32_t width : widths) size.hosts = times(size.hosts, width);
    check_size(size.hosts, 0, max_regular_nodes, max_regular_cables);
    std::vector<Tree::Level> levels;
    std::int64_t switches = 1, hosts_below = size.hosts;
    size.nodes = size.hosts;
    for (const std::int32_t width : widths) {
        levels.push_back({width, static_cast<std::int32_t>(hosts_below), static_cast<std::int32_t>(size.nodes),
                          static_cast<std::int32_t>(size.cables)});
        size.nodes += switches;
        switches *= width;
        size.cables += switches;
        hosts_below /= width;
    }
    return std::make_shared<Tree>(kind, print_shape(widths, 'x'), size, std::move(levels), options);
}

}  // namespace

std::shared_ptr<const Regular> make_star(std::string_view shape, const GenerateOptions& options) {
    return make("star", parse_shape(shape, 'x', 1, 1, "the number of hosts, such as star:16, or a tree:4x4"), options);
}

std::shared_ptr<const Regular> make_tree(std::string_view shape, const GenerateOptions& options) {
    constexpr std::size_t max_levels = 8;
    return make("tree", parse_shape(shape, 'x', 1, max_levels, "the children of each level, such as tree:4x4"),
                options);
}

}  // namespace hocket::network
