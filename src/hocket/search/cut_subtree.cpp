// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/cut_subtree.hpp"

#include <algorithm>

namespace hocket::search {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<bool> computers_behind(const Tree& tree, std::int32_t link) {
    std::vector<bool> found(at(tree.num_computers()));
    for (std::int32_t c = 0; c < tree.num_computers(); ++c) {
        std::int32_t v = tree.node_of(c);
        while (v != link / 2 && v != tree.middle()) v = tree.parent(v);
        found[at(c)] = (v == link / 2) == (link % 2 == 1);
    }
    return found;
}

Tree subtree_behind(const Tree& tree, std::int32_t link) {
    std::vector<std::vector<std::size_t>> cables_at(at(tree.num_nodes()));
    for (std::size_t i = 0; i < tree.cables().size(); ++i) {
        cables_at[at(tree.cables()[i].a)].push_back(i);
        cables_at[at(tree.cables()[i].b)].push_back(i);
    }
    const std::int32_t v = link / 2, start = link % 2 == 0 ? v : tree.parent(v), end = start == v ? tree.parent(v) : v;
    std::vector<std::int32_t> number(at(tree.num_nodes()), -1), nodes{start, end}, computers{0};
    std::vector<Cable> cables;
    number[at(start)] = 0;
    number[at(end)] = 1;
    if (tree.computer_at(end) >= 0) computers.push_back(1);
    const auto add_cable = [&](std::size_t i) {
        Cable cable = tree.cables()[i];
        cable.a = number[at(cable.a)];
        cable.b = number[at(cable.b)];
        cables.push_back(cable);
    };
    for (const std::size_t i : cables_at[at(start)])
        if (tree.cables()[i].a == end || tree.cables()[i].b == end) add_cable(i);
    for (std::size_t k = 1; k < nodes.size(); ++k)
        for (const std::size_t i : cables_at[at(nodes[k])]) {
            const Cable& cable = tree.cables()[i];
            const std::int32_t next = cable.a == nodes[k] ? cable.b : cable.a;
            if (number[at(next)] >= 0) continue;
            number[at(next)] = static_cast<std::int32_t>(nodes.size());
            nodes.push_back(next);
            if (tree.computer_at(next) >= 0) computers.push_back(number[at(next)]);
            add_cable(i);
        }
    return {static_cast<std::int32_t>(nodes.size()), computers, cables, tree.bytes()};
}

bool comes_at_full_rate(const Tree& tree, std::int32_t link) {
    const std::vector<bool> is_behind = computers_behind(tree, link);
    const auto inside = std::find(is_behind.begin(), is_behind.end(), true) - is_behind.begin();
    for (std::int32_t s = 0; s < tree.num_computers(); ++s) {
        if (is_behind[at(s)]) continue;
        bool is_before = true, is_full = true;
        tree.for_path(s, static_cast<std::int32_t>(inside), [&](std::int32_t on_path) {
            is_full = is_full && (!is_before || tree.bandwidth(on_path) >= tree.bandwidth(link));
            is_before = is_before && on_path != link;
        });
        if (!is_full) return false;
    }
    return true;
}

}  // namespace hocket::search
