// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reduce-scatter: block b, chunks b*c .. b*c+c-1, reduced over all ranks, to rank b.

#include <array>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives {

namespace reduce_scatter_block {
namespace {

/// Block b starts at rank b+1 and is reduced along the ring to rank b.
RankSchedule ring(std::int32_t v, const Shape& shape) {
    return once_around_ring(v, around(v, -1, shape.num_ranks), OpKind::recv_reduce_left, shape);
}

/// In each step half of the blocks at hand go to a partner in the other half of the ranks. Blocks stay contiguous; the
/// price is that ranks are not combined in order.
RankSchedule recursive_halving(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const std::int32_t segments = shape.segments;
    const Folding folding(p);
    const ChunkRange whole{0, p * segments};
    const ChunkRange own{v * segments, segments};
    RankSchedule part;
    if (folding.gives(v)) {
        const std::int32_t given = part.add(OpKind::send, Rank{v - 1}, {whole}, {});
        part.add(OpKind::recv, Rank{v - 1}, {own}, {given});
        return part;
    }
    std::vector<std::int32_t> reduced;
    if (folding.takes(v)) reduced = {part.add(OpKind::recv_reduce_right, Rank{v + 1}, {whole}, {})};
    // The blocks of the ranks that act under numbers first .. first+count-1.
    const auto blocks_of = [&](std::int32_t first, std::int32_t count) {
        const std::int32_t begin = folding.rank_of(first);
        return ChunkRange{begin * segments, (folding.rank_of(first + count) - begin) * segments};
    };
    const std::int32_t self = folding.number_of(v);
    for (std::int32_t bit = folding.power / 2; bit > 0; bit /= 2) {
        const std::int32_t partner = self ^ bit;
        const Rank peer{folding.rank_of(partner)};
        part.add(OpKind::send, peer, {blocks_of(partner & -bit, bit)}, reduced);
        reduced = {part.add(reduce_from(partner, self), peer, {blocks_of(self & -bit, bit)}, reduced)};
    }
    if (folding.takes(v)) part.add(OpKind::send, Rank{v + 1}, {{(v + 1) * segments, segments}}, reduced);
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::reduce_scatter_block, "ring", "Patarasuk09", true, false, whole_message, one_for_each_pair,
              ring},
    Algorithm{Collective::reduce_scatter_block, "recursive_halving", "Thakur05", false, false, whole_message,
              one_for_each_rank, recursive_halving},
    Algorithm{Collective::reduce_scatter_block, "bine", "DeSensi25", false, false, whole_message, one_for_each_rank,
              bine::reduce_scatter_block},
};

}  // namespace
}  // namespace reduce_scatter_block

std::span<const Algorithm> reduce_scatter_block_algorithms() { return reduce_scatter_block::algorithms; }

}  // namespace hocket::collectives
