// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/search/growth.hpp"

namespace hocket::search {

/// A node with several units, or joined nodes without the cables between them.
struct Place {
    std::int32_t node;  ///< -1: several
    std::vector<Unit> units;
    std::ptrdiff_t slowest = -1;  ///< the unit that must have the message before all others, if it must pause then
};

/// What hangs where in a tree, whoever has the message.
class Units {
public:
    explicit Units(const Tree&);

    [[nodiscard]] std::span<const Place> places() const { return places_; }
    /// Behind the link `in_link`, seen from where it begins; unknown where that is a leaf.
    [[nodiscard]] const Unit& behind(std::int32_t in_link) const { return behind_[static_cast<std::size_t>(in_link)]; }
    /// The node where a link ends.
    [[nodiscard]] std::int32_t end_of(std::int32_t link) const;
    /// No transfer over the link has a lower rate.
    [[nodiscard]] std::int64_t slowest_over(std::int32_t link) const {
        return std::min(worst_into_[static_cast<std::size_t>(link)], worst_beyond_[static_cast<std::size_t>(link)]);
    }
    /// Links that begin at a node.
    [[nodiscard]] std::span<const std::int32_t> links_from(std::int32_t node) const {
        return links_from_[static_cast<std::size_t>(node)];
    }

private:
    void find_behind(std::int32_t in_link);
    [[nodiscard]] std::int64_t tail_behind(std::int32_t in_link, bool alone);
    [[nodiscard]] std::vector<Unit> inside(std::int32_t in_link) const;
    void find_pause(std::int32_t in_link);
    void join_places();
    [[nodiscard]] std::vector<Unit> units_at(std::span<const std::int32_t> nodes,
                                             std::span<const std::int32_t> top) const;

    const Tree* tree_;
    std::vector<std::vector<std::int32_t>> links_from_;  // [node]
    std::vector<Unit> behind_;                           // [link]
    std::vector<std::int64_t> worst_into_;               // [link] slowest way from any computer over it to its end
    std::vector<std::int64_t> worst_beyond_;             // [link] slowest way over it to any computer
    std::vector<Place> places_;
    Growth growth_;
};

/// A computer as seen from its own node.
[[nodiscard]] Unit own_unit(const Tree&, std::int32_t computer);

}  // namespace hocket::search
