// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/cut_subtree.hpp"

#include <algorithm>
#include <map>

namespace hocket::search {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Calls visit(link) along the way from one node to another, up from both ends.
template <class Visit>
void for_way(const Tree& tree, std::int32_t from, std::int32_t to, Visit&& visit) {
    std::vector<std::int32_t> above;  // `to` and all above it
    for (std::int32_t v = to;; v = tree.parent(v)) {
        above.push_back(v);
        if (v == tree.middle()) break;
    }
    std::int32_t v = from;
    while (std::find(above.begin(), above.end(), v) == above.end()) {
        visit(2 * v);
        v = tree.parent(v);
    }
    for (std::size_t i = 0; above[i] != v; ++i) visit(2 * above[i] + 1);
}

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

Tree subtree_behind(const Tree& tree, std::int32_t link, std::vector<std::int32_t>* originals) {
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
    if (originals != nullptr) *originals = {-1};
    const auto add_computer = [&](std::int32_t node) {
        if (tree.computer_at(node) < 0) return;
        computers.push_back(number[at(node)]);
        if (originals != nullptr) originals->push_back(tree.computer_at(node));
    };
    add_computer(end);
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
            add_computer(next);
            add_cable(i);
        }
    return {static_cast<std::int32_t>(nodes.size()), computers, cables, tree.bytes()};
}

CutOff cut_off(const Tree& tree, std::int32_t link, std::span<const std::int64_t> ready_ns) {
    std::vector<std::int32_t> originals;
    const Tree behind = subtree_behind(tree, link, &originals);
    std::int64_t fastest = 0;  // that anything behind can receive
    for (std::int32_t c = 1; c < behind.num_computers(); ++c) fastest = std::max(fastest, behind.rate(0, c));
    std::map<std::int64_t, std::int64_t> from_ns;  // of each rate to the link
    const std::vector<bool> is_behind = computers_behind(tree, link);
    const std::int32_t v = link / 2, start = link % 2 == 0 ? v : tree.parent(v);
    for (std::int32_t s = 0; s < tree.num_computers(); ++s) {
        if (is_behind[at(s)]) continue;
        std::int64_t rate = tree.send_rate(s);
        for_way(tree, tree.node_of(s), start,
                [&](std::int32_t on_way) { rate = std::min(rate, tree.bandwidth(on_way)); });
        const auto [place, is_new] = from_ns.try_emplace(std::min(rate, fastest), ready_ns[at(s)]);
        place->second = std::min(place->second, ready_ns[at(s)]);
    }
    std::vector<std::int32_t> computers;
    std::vector<Cable> cables(behind.cables().begin(), behind.cables().end());
    std::vector<std::int64_t> rates;
    CutOff found{behind, {}, {}};
    const auto add = [&](std::int32_t node, std::int64_t rate, std::int64_t from) {
        if (from < never) {
            found.holders.push_back(static_cast<std::int32_t>(computers.size()));
            found.from_ns.push_back(from);
        }
        computers.push_back(node);
        rates.push_back(rate);
    };
    for (std::int32_t c = 1; c < behind.num_computers(); ++c) {
        const std::int64_t from = ready_ns[at(originals[at(c)])];
        add(behind.node_of(c), Tree::unlimited, from == 0 ? 0 : never);
    }
    std::int32_t num_nodes = behind.num_nodes();
    for (const auto& [rate, from] : from_ns) {
        cables.push_back({0, num_nodes, {Tree::unlimited, Tree::unlimited}, {0, 0}, false});
        add(num_nodes++, rate, from);
    }
    found.tree = Tree(num_nodes, computers, cables, tree.bytes(), rates);
    return found;
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
