// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace hocket {

/// An index that cannot be mistaken for another kind of index. Four bytes, no cost.
template <class Tag>
struct Index {
    std::int32_t value = -1;

    constexpr Index() = default;
    constexpr explicit Index(std::int32_t v) : value(v) {}
    constexpr auto operator<=>(const Index&) const = default;
    [[nodiscard]] constexpr bool valid() const { return value >= 0; }
    [[nodiscard]] constexpr std::size_t at() const { return static_cast<std::size_t>(value); }
};

using Rank = Index<struct RankTag>;
using NodeId = Index<struct NodeTag>;
using LinkId = Index<struct LinkTag>;

}  // namespace hocket

template <class Tag>
struct std::hash<hocket::Index<Tag>> {
    std::size_t operator()(hocket::Index<Tag> i) const noexcept { return std::hash<std::int32_t>{}(i.value); }
};
