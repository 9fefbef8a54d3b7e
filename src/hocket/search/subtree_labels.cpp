// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/subtree_labels.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace hocket::search {

SubtreeLabels::SubtreeLabels(const Tree& tree)
    : tree_(&tree),
      neighbours_(at(tree.num_nodes())),
      parent_(neighbours_.size()),
      depth_(neighbours_.size()),
      label_(neighbours_.size()),
      kind_(neighbours_.size()),
      children_(neighbours_.size()),
      lists_(neighbours_.size()) {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>, std::int32_t> kinds;
    const auto kind_of = [&](const Cable& cable, int there) {
        const int back = 1 - there;
        return kinds
            .try_emplace({cable.bandwidth[there], cable.bandwidth[back], cable.delay_ns[there], cable.delay_ns[back],
                          cable.half_duplex},
                         static_cast<std::int32_t>(kinds.size()))
            .first->second;
    };
    for (const Cable& cable : tree.cables()) {
        neighbours_[at(cable.a)].emplace_back(cable.b, kind_of(cable, 0));
        neighbours_[at(cable.b)].emplace_back(cable.a, kind_of(cable, 1));
    }
}

void SubtreeLabels::label(std::int32_t root, const std::function<std::int32_t(std::int32_t)>& mark) {
    levels_.clear();
    std::vector<std::int32_t> order{root};
    parent_[at(root)] = -1;
    depth_[at(root)] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int32_t v = order[i];
        children_[at(v)].clear();
        if (at(depth_[at(v)]) == levels_.size()) levels_.emplace_back();
        levels_[at(depth_[at(v)])].push_back(v);
        for (const auto& [next, kind] : neighbours_[at(v)]) {
            if (next == parent_[at(v)]) continue;
            parent_[at(next)] = v;
            depth_[at(next)] = depth_[at(v)] + 1;
            kind_[at(next)] = kind;
            children_[at(v)].push_back(next);
            order.push_back(next);
        }
    }
    for (std::size_t depth = levels_.size(); depth-- > 0;) {
        std::vector<std::int32_t>& level = levels_[depth];
        for (const std::int32_t v : level) {
            std::vector<std::int32_t>& list = lists_[at(v)];
            list.clear();
            for (const std::int32_t child : children_[at(v)]) list.push_back(label_[at(child)]);
            std::sort(list.begin(), list.end());
            list.push_back(mark(v));
            list.push_back(v == root ? -1 : kind_[at(v)]);
        }
        std::sort(level.begin(), level.end(),
                  [&](std::int32_t a, std::int32_t b) { return lists_[at(a)] < lists_[at(b)]; });
        std::int32_t number = 0;
        for (std::size_t i = 0; i < level.size(); ++i) {
            if (i > 0 && lists_[at(level[i])] != lists_[at(level[i - 1])]) ++number;
            label_[at(level[i])] = number;
        }
    }
}

}  // namespace hocket::search
