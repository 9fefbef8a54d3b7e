// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

/// Labels of the subtrees below the nodes of a tree hung up at one of them: two nodes of the same depth have the same
/// label if and only if an isomorphism maps what hangs on them to each other, with cables and the given marks
/// [AhoHopcroftUllman74, sec. 3.2; Hourai, sec. 4.1]. Linear in the nodes but for the sorting of lists.
class SubtreeLabels {
public:
    explicit SubtreeLabels(const Tree&);

    /// `mark(node)` distinguishes nodes.
    void label(std::int32_t root, const std::function<std::int32_t(std::int32_t)>& mark);

    [[nodiscard]] std::int32_t parent(std::int32_t node) const { return parent_[at(node)]; }
    [[nodiscard]] const std::vector<std::int32_t>& children(std::int32_t node) const { return children_[at(node)]; }
    [[nodiscard]] bool same(std::int32_t a, std::int32_t b) const { return label_[at(a)] == label_[at(b)]; }

private:
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

    const Tree* tree_;
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>>
        neighbours_;                                           // [node] (node, kind of cable to there)
    std::vector<std::int32_t> parent_, depth_, label_, kind_;  // [node]
    std::vector<std::vector<std::int32_t>> children_, lists_;  // [node]
    std::vector<std::vector<std::int32_t>> levels_;            // [depth]
};

}  // namespace hocket::search
