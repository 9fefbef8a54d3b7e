// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/collectives/emitters.hpp"

/// Binomial negabinary ("Bine") trees and butterflies [DeSensi25], whose partners those of Swing [DeSensi24] are.
///
/// In step s the even ranks of a ring send rho(s) = (1 - (-2)^(s+1)) / 3 = 1, -1, 3, -5, 11, ... ranks on, the odd ones
/// as far back: about a third of 2^(s+1), where the exchange of recursive doubling goes 2^s far. rho(s) is the number
/// with s + 1 ones as its digits to the base -2. So with steps from L - 1 down to 0 what starts at rank 0 is at offset
/// o after the step s where the s + 1 lowest digits of o became what they are, all alike, and unlike the next: each
/// number of L digits is reached once. These are 2^L numbers in a row.
namespace hocket::collectives::bine {

/// rho(s)
constexpr std::int32_t distance(std::int32_t step) {
    return static_cast<std::int32_t>((1 - ((step % 2 == 0 ? -2 : 2) * (std::int64_t{1} << step))) / 3);
}
/// Whom v exchanges with on a ring of an even number of ranks.
constexpr std::int32_t partner(std::int32_t v, std::int32_t step, std::int32_t ring) {
    return around(v, v % 2 == 0 ? distance(step) : -distance(step), ring);
}
/// ceil(log2 ring)
std::int32_t num_steps(std::int32_t ring);

/// Ranks first, first + 1, ... around all.
struct Stretch {
    std::int32_t first, count;
};

/// The place of a rank in the Bine tree of root 0, of which a subtree is a stretch around the ring. Among those that
/// act if there are no powers of two (see Folding); the others are leaves below them.
struct Place {
    struct Child {
        std::int32_t rank;
        Stretch subtree;
    };
    std::int32_t parent;          ///< -1 at the root
    Stretch subtree;              ///< with the rank itself
    std::vector<Child> children;  ///< the largest subtree first
};
Place place_in_tree(std::int32_t v, std::int32_t p);
TreePlace tree_place(std::int32_t v, std::int32_t p);

/// Exchanges on a ring of an even number of ranks, each with a block. In an allgather, with steps from the highest to
/// 0, a block goes on from each rank that has it to partners that lack it; a reduce-scatter is that backwards. Both
/// take ceil(log2 ring) steps and send each block to or from each rank once, for any even number [DeSensi24, 3.2].
class Butterfly {
public:
    explicit Butterfly(std::int32_t ring);

    [[nodiscard]] std::int32_t ring() const { return ring_; }
    [[nodiscard]] std::int32_t num_steps() const { return static_cast<std::int32_t>(offsets_.size()); }
    [[nodiscard]] std::int32_t partner(std::int32_t v, std::int32_t step) const {
        return bine::partner(v, step, ring_);
    }
    /// Of each rank.
    [[nodiscard]] std::int64_t num_blocks(std::int32_t step) const {
        return static_cast<std::int64_t>(offsets_[static_cast<std::size_t>(step)].size());
    }
    /// The blocks, in increasing order, that v lacks before this step of an allgather, and has after it.
    [[nodiscard]] std::vector<std::int32_t> blocks(std::int32_t v, std::int32_t step) const;

private:
    std::int32_t ring_;
    std::vector<std::vector<std::int32_t>> offsets_;  ///< [step] of ranks from an even block's that get it then
};

// butterflies.cpp
std::int32_t block_for_each_of_ring(const Shape& shape);  ///< of Algorithm::cuts: as many as the ring has ranks
RankSchedule swing(std::int32_t v, const Shape& shape);
RankSchedule allgather(std::int32_t v, const Shape& shape);
RankSchedule reduce_scatter_block(std::int32_t v, const Shape& shape);

}  // namespace hocket::collectives::bine
