// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/cost_model.hpp"
#include "hocket/cost/rounds.hpp"
#include "hocket/network/network.hpp"
#include "hocket/plan/plan.hpp"

/// Which textbook algorithm serves which calls of a communicator, from the network and the costs of messages alone.
/// Nothing is measured, simulated or random: each rank that asks finds the same.
namespace hocket::decision {

/// A call is served where the MPI's own function is predicted to take longer by this share, and by this time: ten times
/// what hocket adds to a call at most (docs/notebook/small-calls.md).
inline constexpr double least_gain = 0.1;
inline constexpr double least_gain_s = 10e-6;
/// Algorithms that send more messages in all are left out, and collectives of more blocks (see Schedule) than that.
inline constexpr std::int64_t most_messages = 1 << 16;
inline constexpr std::int64_t most_blocks = 1 << 20;
/// Larger calls stay native.
inline constexpr std::int64_t most_bytes = (std::int64_t{1} << 31) - 1;

/// Decides for communicators on one network, and keeps what it has found. Not for several threads at once.
class Decider {
public:
    /// `network` lives as long as this.
    Decider(const Network& network, const CostModel& costs);

    /// Entries for calls of any root and of 0 to `most_bytes` bytes, in increasing order of bytes; none for sizes that
    /// are best left to the MPI. `members` are ranks of the network in the order of the communicator. Communicators
    /// whose members are on the same nodes share them: the entries' own members are those of the first that asked.
    /// @throws InvalidInput  if there is no member, or one is not in the network or comes twice
    const std::vector<PlanEntry>& entries(Collective, std::span<const Rank> members);

    /// How long a call takes that is served by such a schedule, in the mean over a few roots. Segments take turns, see
    /// cost::RoundTimes.
    double predicted_s(const PlannedSchedule&, std::span<const Rank> members, std::int64_t bytes);
    /// The same of the MPI's own function, taken to be collectives::textbook_algorithm() in the order of ranks.
    double native_s(Collective, std::span<const Rank> members, std::int64_t bytes);

private:
    using Key = std::pair<const collectives::Algorithm*, std::int32_t>;
    /// An algorithm on the members in one order, for each root tried.
    struct Ordered {
        const collectives::Algorithm* algorithm;
        std::vector<Rank> order;  ///< empty: 0, 1, ...
        std::vector<cost::RoundTimes> of_roots;
    };
    /// What is taken for a size.
    struct Choice {
        const Ordered* ordered = nullptr;
        std::optional<std::int64_t> segment_bytes{};
        std::int32_t segments = 1;
        double time_s = 0;

        [[nodiscard]] bool is_like(const Choice& other) const {
            return ordered == other.ordered && segment_bytes == other.segment_bytes;
        }
    };

    const cost::Rounds& rounds(const collectives::Algorithm&, std::int32_t num_ranks);
    Ordered ordered(const collectives::Algorithm&, std::span<const Rank> members, std::vector<Rank> order);
    /// Orders worth trying: that of the ranks, and along the network.
    [[nodiscard]] std::vector<std::vector<Rank>> orders(std::span<const Rank> members) const;
    [[nodiscard]] Choice best(const std::vector<Ordered>& candidates, std::int32_t num_ranks, std::int64_t bytes) const;
    std::vector<PlanEntry> decide(Collective, std::span<const Rank> members);

    const Network& network_;
    CostModel costs_;
    std::vector<std::int64_t> segment_bytes_;
    std::map<Key, cost::Rounds> rounds_;
    std::map<std::pair<Collective, std::vector<NodeId>>, std::vector<PlanEntry>> found_;
};

}  // namespace hocket::decision
