// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// An extended generalised fat tree [Ohring95] XGFT(h; m[1] .. m[h]; 1, w[1] .. w[h-1]): a switch of level l = 1 .. h
// has m[l] children and, below the top, w[l] cables up. With w[l] = m[l], which is what a shape without "/" means, its
// bisection is full; with w[l] < m[l] it is tapered.
//
// Let M[l] = m[1] .. m[l] be the hosts below a switch of level l and W[l] = w[0] .. w[l-1]. Level l has N / M[l] * W[l]
// switches, numbered S * W[l] + q: S is the subtree of level l, q one of its W[l] parallel roots. Cable k < w[l] up
// from there leads to subtree S / m[l+1], root q + k * W[l]. Hosts are level 0 with W[0] = M[0] = w[0] = 1.
//
// A way up is thus given by the root q at its top, of which the lower levels take q mod W[l], and the way down from a
// root is the only one there is. Routing d-mod-k [Zahavi09] takes q = d mod W[l] towards host d; a hash takes any.

#include <algorithm>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/regular.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {
namespace {

struct Level {
    std::int32_t children;     ///< m[l]
    std::int32_t parents;      ///< w[l]; 0 at the top
    std::int32_t parallel;     ///< W[l]
    std::int32_t hosts_below;  ///< M[l]
    std::int32_t first_node, first_cable;
};

class FatTree final : public Regular {
public:
    FatTree(std::string shape, Size size, std::vector<Level> levels, const GenerateOptions& options)
        : Regular("fat-tree", std::move(shape), size, options), levels_(std::move(levels)) {}

    [[nodiscard]] std::string switch_name(std::int32_t node) const override {
        std::size_t l = levels_.size() - 1;
        while (node < levels_[l].first_node) --l;
        return "s" + std::to_string(l) + "." + std::to_string(node - levels_[l].first_node);
    }

    [[nodiscard]] Cable cable(std::int32_t number) const override {
        std::size_t l = levels_.size() - 2;
        while (number < levels_[l].first_cable) --l;
        const Level &level = levels_[l], &above = levels_[l + 1];
        const std::int32_t in_level = number - level.first_cable;
        const std::int32_t below = in_level / level.parents, up = in_level % level.parents;
        const std::int32_t subtree = below / level.parallel, root = below % level.parallel;
        return {level.first_node + below,
                above.first_node + subtree / above.children * above.parallel + root + up * level.parallel};
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        HOCKET_ASSERT(a.value < num_hosts() && b.value < num_hosts(), "routes in a fat tree join hosts");
        std::size_t top = 0;
        while (a.value / levels_[top].hosts_below != b.value / levels_[top].hosts_below) ++top;
        std::int32_t root = b.value % levels_[top].parallel;
        if (ecmp_seed()) {
            base::Random draws = draws_of(*ecmp_seed(), a, b);
            root = 0;
            for (std::size_t l = 0; l < top; ++l)
                root += static_cast<std::int32_t>(draws.below(levels_[l].parents)) * levels_[l].parallel;
        }
        out.resize(out.size() + 2 * top);
        LinkId* const links = out.data() + out.size() - 2 * top;
        for (std::size_t l = 0; l < top; ++l) {
            const Level& level = levels_[l];
            const std::int32_t up = root / level.parallel % level.parents, parallel = root % level.parallel;
            const auto cable_above = [&](std::int32_t host) {
                return level.first_cable + (host / level.hosts_below * level.parallel + parallel) * level.parents + up;
            };
            links[l] = LinkId{2 * cable_above(a.value)};
            links[2 * top - 1 - l] = LinkId{2 * cable_above(b.value) + 1};
        }
    }

private:
    std::vector<Level> levels_;  // 0 (the hosts) to h
};

}  // namespace

std::shared_ptr<const Regular> make_fat_tree(std::string_view shape, const GenerateOptions& options) {
    constexpr std::size_t max_levels = 8;
    const std::size_t slash = shape.find('/');
    const std::string expected =
        "the children of each level, and for a tapered tree the cables up from each level but "
        "the top, such as fat-tree:8x8x16 or fat-tree:8x8x16/4x2";
    const auto children = parse_shape(shape.substr(0, slash), 'x', 1, max_levels, expected);
    auto parents = children;
    parents.pop_back();
    std::string printed = print_shape(children, 'x');
    if (slash != std::string_view::npos) {
        const auto given = parse_shape(shape.substr(slash + 1), 'x', 1, max_levels, expected);
        if (given.size() != parents.size())
            throw InvalidInput("shape " + base::quoted(shape) + ": " + std::to_string(children.size()) +
                                   " levels of switches have cables up from " + std::to_string(parents.size()) +
                                   ", not from " + std::to_string(given.size()),
                               "write " + expected);
        if (given != parents) printed += "/" + print_shape(given, 'x');
        parents = given;
    }
    parents.insert(parents.begin(), 1);
    parents.push_back(0);

    Regular::Size size{1, 0, 0};
    for (const std::int32_t width : children) size.hosts = times(size.hosts, width);
    check_size(size.hosts, 0, max_regular_nodes, max_regular_cables);
    std::vector<Level> levels;
    std::int64_t hosts_below = 1, parallel = 1;
    for (std::size_t l = 0; l <= children.size(); ++l) {
        if (l > 0) {
            hosts_below *= children[l - 1];
            parallel = times(parallel, parents[l - 1]);
        }
        levels.push_back({l == 0 ? 1 : children[l - 1], parents[l], static_cast<std::int32_t>(parallel),
                          static_cast<std::int32_t>(hosts_below), static_cast<std::int32_t>(size.nodes),
                          static_cast<std::int32_t>(size.cables)});
        const std::int64_t nodes = times(parallel, size.hosts / hosts_below);
        size.nodes += nodes;
        size.cables += times(nodes, parents[l]);
        check_size(size.nodes, size.cables, max_regular_nodes, max_regular_cables);
    }
    return std::make_shared<FatTree>(printed, size, std::move(levels), options);
}

}  // namespace hocket::network
