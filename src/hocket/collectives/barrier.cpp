// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <array>

#include "hocket/collectives/emitters.hpp"

namespace hocket::collectives {

namespace barrier {
namespace {

/// After the step of distance d a rank has heard, perhaps through others, of the 2d ranks that end with itself.
RankSchedule dissemination(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    std::vector<std::int32_t> heard;
    for (std::int32_t distance = 1; distance < p; distance *= 2) {
        part.add(OpKind::send, Rank{around(v, distance, p)}, std::vector<ChunkRange>{}, heard);
        heard.push_back(part.add(OpKind::recv, Rank{around(v, -distance, p)}, {}, {}));
    }
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::barrier, "dissemination", "Hensgen88", false, false, whole_message, one_for_each_rank,
              dissemination},
};

}  // namespace
}  // namespace barrier

std::span<const Algorithm> barrier_algorithms() { return barrier::algorithms; }

}  // namespace hocket::collectives
