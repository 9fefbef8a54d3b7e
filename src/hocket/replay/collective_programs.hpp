// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hocket/program/program.hpp"
#include "hocket/replay/replay.hpp"

namespace hocket::replay {

/// One rank's call of a collective.
struct CollectiveCall {
    std::string_view name;                     ///< "bcast", "allgatherv", "exscan", ...
    const std::vector<std::int32_t>& members;  ///< world ranks, in communicator order
    std::int32_t rank;                         ///< in the communicator
    std::int64_t bytes;  ///< as in lower(); of a v-variant what this rank contributes (scatterv: gets)
    std::int32_t root;   ///< -1: none
    std::span<const std::int64_t> sent, received;  ///< sizes by rank, of v-variants
};

/// The part of one rank in a collective, as a small Program. Whole schedules are built once and kept.
class CollectivePrograms {
public:
    CollectivePrograms(const Plan& plan, const std::vector<NativeModel>& native) : plan_(plan), native_(native) {}

    /// Valid until the next call; null if the collective is not modelled.
    const RankProgram* part(const CollectiveCall&);

private:
    struct Key {
        Collective collective;
        std::vector<std::int32_t> members;
        std::int64_t bytes;
        std::int32_t root;
        auto operator<=>(const Key&) const = default;
    };

    const Program& scheduled(Collective, const CollectiveCall&);
    const RankProgram* direct(const CollectiveCall&);
    const RankProgram* chain(const CollectiveCall&);

    const Plan& plan_;
    const std::vector<NativeModel>& native_;
    std::map<Key, Program> programs_;
    RankProgram scratch_;
};

}  // namespace hocket::replay
