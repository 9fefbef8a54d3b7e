// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/interop/dumpi_groups.hpp"

#include <algorithm>

namespace hocket::interop {

namespace {

constexpr std::size_t most_ranks = 1U << 24U;  // of ranges in a damaged file

bool contains(const std::vector<std::int32_t>& all, std::int32_t one) {
    return std::ranges::find(all, one) != all.end();
}

}  // namespace

void DumpiGroups::of_communicator(std::int32_t made, std::int32_t communicator) {
    Group group{communicator, {}, true};
    for (std::int32_t r = 0; communicator == 0 && r < num_ranks_; ++r) group.ranks.push_back(r);
    groups_[made] = std::move(group);
}

void DumpiGroups::include(std::int32_t made, std::int32_t from, const std::vector<std::int32_t>& places) {
    const auto source = find(from);
    groups_.erase(made);
    if (!source) return;
    Group group{source->communicator, {}, false};
    for (const std::int32_t place : places) {
        if (place < 0) return;
        if (source->whole && source->communicator != 0) {
            group.ranks.push_back(place);
        } else {
            if (static_cast<std::size_t>(place) >= source->ranks.size()) return;
            group.ranks.push_back(source->ranks[static_cast<std::size_t>(place)]);
        }
    }
    groups_[made] = std::move(group);
}

void DumpiGroups::exclude(std::int32_t made, std::int32_t from, const std::vector<std::int32_t>& places) {
    const auto source = find(from);
    groups_.erase(made);
    if (!source || !is_listed(*source)) return;
    std::vector<std::int32_t> sorted = places;
    std::ranges::sort(sorted);
    Group group{source->communicator, {}, false};
    for (std::size_t i = 0; i < source->ranks.size(); ++i)
        if (!std::ranges::binary_search(sorted, static_cast<std::int32_t>(i))) group.ranks.push_back(source->ranks[i]);
    groups_[made] = std::move(group);
}

void DumpiGroups::combine(std::int32_t made, std::int32_t first, std::int32_t second, Both both) {
    const auto a = find(first), b = find(second);
    groups_.erase(made);
    if (!a || !b || a->communicator != b->communicator || !is_listed(*a) || !is_listed(*b)) return;
    Group group{a->communicator, {}, false};
    for (const std::int32_t rank : a->ranks)
        if (both == Both::either || contains(b->ranks, rank) == (both == Both::both)) group.ranks.push_back(rank);
    for (const std::int32_t rank : b->ranks)
        if (both == Both::either && !contains(a->ranks, rank)) group.ranks.push_back(rank);
    groups_[made] = std::move(group);
}

std::vector<std::int32_t> DumpiGroups::ranks_in(const std::vector<std::int32_t>& ranges) {
    std::vector<std::int32_t> ranks;
    for (std::size_t i = 0; i + 2 < ranges.size(); i += 3) {
        const std::int64_t last = ranges[i + 1], stride = ranges[i + 2];
        if (stride == 0) return {};
        for (std::int64_t r = ranges[i]; (stride > 0 ? r <= last : r >= last) && ranks.size() < most_ranks; r += stride)
            ranks.push_back(static_cast<std::int32_t>(r));
    }
    return ranks;
}

std::optional<DumpiGroups::Group> DumpiGroups::find(std::int32_t handle) const {
    const auto found = groups_.find(handle);
    if (found == groups_.end()) return std::nullopt;
    return found->second;
}

}  // namespace hocket::interop
