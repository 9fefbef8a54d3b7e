// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "hocket/program/program.hpp"
#include "hocket/replay/replay.hpp"

namespace hocket::replay {

/// One rank's call of a collective.
struct CollectiveCall {
    std::string_view name;                     ///< "bcast", "allgatherv", "exscan", "neighbor_alltoall", ...
    std::int32_t group;                        ///< the same number for the same members
    const std::vector<std::int32_t>& members;  ///< world ranks, in communicator order
    std::int32_t rank;                         ///< in the communicator
    std::int64_t bytes;  ///< as in lower(); of a v-variant what this rank contributes (scatterv: gets)
    std::int32_t root;   ///< in the communicator, or in the remote group; -1: none, -3: this rank, of `remote`
    std::span<const std::int64_t> sent, received;  ///< sizes of v-variants, by rank or neighbour
    std::span<const std::int32_t> remote = {};     ///< the other group of an inter-communicator
    const trace::Neighbours* neighbours = nullptr;
    bool is_inner = false;  ///< a step of another collective, which no plan serves
};

/// The part of one rank in a collective, as a small Program. Its peers count through `members`, then `remote`. Parts of
/// schedules are kept for further calls, those used last, in a memory that does not grow with the number of calls.
class CollectivePrograms {
public:
    CollectivePrograms(const Plan& plan, const std::vector<NativeModel>& native) : plan_(plan), native_(native) {}

    /// Valid until the next call; null if the collective is not modelled, or its sizes or neighbours are not known.
    const RankProgram* part(const CollectiveCall&);

private:
    struct Key {
        Collective collective;
        std::int32_t group;
        std::int64_t bytes;
        std::int32_t root;
        std::int32_t rank;
        auto operator<=>(const Key&) const = default;
    };

    const RankProgram& scheduled(Collective, const CollectiveCall&);
    [[nodiscard]] RankProgram made(Collective, const CollectiveCall&) const;
    /// Of the local group alone.
    const RankProgram& scheduled(Collective, const CollectiveCall&, std::int64_t bytes);
    /// Null where it is not composed of collectives in both groups.
    const RankProgram* between_groups(const CollectiveCall&);

    const Plan& plan_;
    const std::vector<NativeModel>& native_;
    std::map<Key, RankProgram> parts_, older_parts_;
    std::size_t num_ops_ = 0;  ///< of parts_
    RankProgram scratch_;
};

}  // namespace hocket::replay
