// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <array>

#include "hocket/collectives/emitters.hpp"

namespace hocket::collectives {

namespace barrier {
namespace {

/// In the step of a distance d a rank hears from those d, 2 d, ... (radix - 1) d before it. Then it has heard, perhaps
/// through others, of the radix * d ranks that end with itself.
template <std::int32_t radix>
RankSchedule dissemination(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    std::vector<std::int32_t> heard;
    for (std::int64_t unit = 1; unit < p; unit *= radix) {
        const std::vector<std::int32_t> heard_before = heard;
        for (std::int64_t far = unit; far < std::min<std::int64_t>(radix * unit, p); far += unit) {
            const auto distance = static_cast<std::int32_t>(far);
            part.add(OpKind::send, Rank{around(v, distance, p)}, std::vector<ChunkRange>{}, heard_before);
            heard.push_back(part.add(OpKind::recv, Rank{around(v, -distance, p)}, {}, {}));
        }
    }
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::barrier, "dissemination", "Hensgen88", false, false, whole_message, one_for_each_rank,
              dissemination<2>},
    Algorithm{Collective::barrier, "dissemination_4", "Hoefler06", false, false, whole_message, one_for_each_rank,
              dissemination<4>},
};

}  // namespace
}  // namespace barrier

std::span<const Algorithm> barrier_algorithms() { return barrier::algorithms; }

}  // namespace hocket::collectives
