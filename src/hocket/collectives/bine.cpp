// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/collectives/bine.hpp"

#include <algorithm>
#include <bit>

namespace hocket::collectives::bine {

namespace {

constexpr std::int64_t odd_places = 0x2aaaaaaaaaaaaaaa;  // of digits, whose place values are negative

/// The sums of all negative and of all positive place values of so many digits.
constexpr std::int64_t least_of(std::int32_t digits) { return -(odd_places & ((std::int64_t{1} << digits) - 1)); }
constexpr std::int64_t greatest_of(std::int32_t digits) { return (std::int64_t{1} << digits) - 1 + least_of(digits); }

/// In which step, of so many, an offset is reached; num_steps for 0, which is there before all steps.
std::int32_t step_of(std::int64_t offset, std::int32_t num_steps) {
    if (offset == 0) return num_steps;
    const auto digits = static_cast<std::uint64_t>((offset + odd_places) ^ odd_places);
    return (digits % 2 == 0 ? std::countr_zero(digits) : std::countr_one(digits)) - 1;
}

}  // namespace

std::int32_t num_steps(std::int32_t ring) {
    return ring < 2 ? 0 : std::bit_width(static_cast<std::uint32_t>(ring) - 1);
}

Place place_in_tree(std::int32_t v, std::int32_t p) {
    const Folding folding(p);
    if (folding.gives(v)) return {v - 1, {v, 1}, {}};
    const std::int32_t acting = folding.power, steps = num_steps(acting), self = folding.number_of(v);
    const std::int64_t offset = self <= greatest_of(steps) ? self : self - acting;
    // Reached in a step, a number keeps its digits from there on; the lower ones are those of its subtree.
    const auto subtree = [&](std::int64_t root, std::int32_t step) {
        const auto low_digits = ((root + odd_places) ^ odd_places) & ((std::int64_t{1} << step) - 1);
        const std::int64_t low = (low_digits ^ odd_places) - odd_places;
        const std::int64_t least = root - low + least_of(step), end = least + (std::int64_t{1} << step);
        const auto number = [&](std::int64_t o) { return static_cast<std::int32_t>(o < 0 ? o + acting : o); };
        if (step == steps) return Stretch{0, p};
        const std::int32_t first = folding.rank_of(number(least));
        return Stretch{first, around(folding.rank_of(number(end - 1) + 1), -first, p)};
    };
    const std::int32_t reached = step_of(offset, steps);
    Place place{reached == steps ? -1 : folding.rank_of(partner(self, reached, acting)), subtree(offset, reached), {}};
    for (std::int32_t step = reached; step-- > 0;) {
        const std::int32_t child = partner(self, step, acting);
        const std::int64_t child_offset = offset + (self % 2 == 0 ? distance(step) : -distance(step));
        place.children.push_back({folding.rank_of(child), subtree(child_offset, step)});
    }
    if (folding.takes(v)) place.children.push_back({v + 1, {v + 1, 1}});
    return place;
}

TreePlace tree_place(std::int32_t v, std::int32_t p) {
    const Place place = place_in_tree(v, p);
    TreePlace found{place.parent, {}};
    for (const Place::Child& child : place.children) found.children.push_back(child.rank);
    return found;
}

/// Where the ring has fewer ranks than there are numbers of num_steps digits, some of these are offsets of one rank,
/// which gets the block in the first of their steps, from a rank that has it as well by then.
Butterfly::Butterfly(std::int32_t ring) : ring_(ring), offsets_(static_cast<std::size_t>(bine::num_steps(ring))) {
    const std::int32_t steps = num_steps();
    for (std::int32_t rank = 1; rank < ring; ++rank) {
        std::int32_t first_step = -1;
        // 2^L numbers in a row, with less than 2 ring of them.
        for (std::int64_t offset = rank - 2 * std::int64_t{ring}; offset <= greatest_of(steps); offset += ring)
            if (offset >= least_of(steps)) first_step = std::max(first_step, step_of(offset, steps));
        offsets_[static_cast<std::size_t>(first_step)].push_back(rank);
    }
}

std::vector<std::int32_t> Butterfly::blocks(std::int32_t v, std::int32_t step) const {
    std::vector<std::int32_t> found;
    for (const std::int32_t offset : offsets_[static_cast<std::size_t>(step)])
        found.push_back(around(v, (v - offset) % 2 == 0 ? -offset : offset, ring_));
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace hocket::collectives::bine
