// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
/// The same share where nothing is known of the MPI's own times, as of calls larger than all that were measured: they
/// may be less than assumed.
inline constexpr double least_gain_unknown = 0.25;
/// A contender's call takes at least so long: a comparison with native calls has three exchanges of a few numbers.
inline constexpr double least_contender_s = 1e-3;
/// Algorithms that send more messages in all are left out, but for those that large_rounds() knows.
inline constexpr std::int64_t most_messages = 1 << 16;
/// Those with starts are for no more ranks.
inline constexpr std::int32_t most_emitted = 256;
/// Larger calls stay native.
inline constexpr std::int64_t most_bytes = (std::int64_t{1} << 31) - 1;

/// Decides for communicators on one network, and keeps what it has found. Not for several threads at once.
class Decider {
public:
    /// `network` lives as long as this. `mpi`, such as "Open MPI 4.1.4": that whose times are taken from the network's
    /// calibration, where it has them.
    /// @throws InvalidInput  if these times name a collective or an algorithm that there is not
    Decider(const Network& network, const CostModel& costs, std::string_view mpi = {});

    /// Entries for calls of any root and of 0 to `most_bytes` bytes, in increasing order of bytes; none for sizes that
    /// are best left to the MPI. `members` are ranks of the network in the order of the communicator. Communicators
    /// whose members are on the same nodes share them: the entries' own members are those of the first that asked.
    /// @throws InvalidInput  if there is no member, or one is not in the network or comes twice
    const std::vector<PlanEntry>& entries(Collective, std::span<const Rank> members);

    /// The same for sizes at which nothing is known of the MPI's own times, and at which the best schedule is not
    /// predicted to gain enough over what the MPI is taken to do. It may do worse: these are worth a comparison, and
    /// are served if that shows them to be faster.
    /// @throws InvalidInput  as entries()
    const std::vector<PlanEntry>& contenders(Collective, std::span<const Rank> members);

    /// The schedule that is predicted to be the fastest for calls of one size, and for how long.
    /// @throws InvalidInput  as entries(), or if no algorithm has few enough messages
    std::pair<PlannedSchedule, double> fastest(Collective, std::span<const Rank> members, std::int64_t bytes);
    /// How long a call takes that is served by such a schedule, in the mean over a few roots. Segments take turns, see
    /// cost::RoundTimes.
    double predicted_s(const PlannedSchedule&, std::span<const Rank> members, std::int64_t bytes);
    /// The same of the MPI's own function: by what was measured of it, or else taken to be
    /// collectives::open_mpi_algorithm() or textbook_algorithm() in the order of ranks.
    double native_s(Collective, std::span<const Rank> members, std::int64_t bytes);

private:
    using Key = std::pair<const collectives::Algorithm*, std::int32_t>;
    /// An algorithm on the members in one order, for each root tried.
    struct Ordered {
        const collectives::Algorithm* algorithm;
        std::vector<Rank> order;           ///< empty: 0, 1, ...
        std::vector<std::int32_t> starts;  ///< of collectives::Shape
        std::vector<cost::RoundTimes> of_roots;

        [[nodiscard]] PlannedSchedule schedule(std::int32_t num_ranks, std::optional<std::int64_t> segment_bytes) const;
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

    /// The MPI's own function at sizes up to `bytes_max`.
    struct Native {
        std::int64_t bytes_max;
        const collectives::Algorithm* algorithm;  ///< null: the usual one of the size
        std::optional<std::int64_t> segment_bytes{};
        double factor = 1, schedule_factor = 1;  ///< measured over predicted, of it and of schedules
        bool is_measured = false, takes_turns = false;
        /// About the size that was measured: what becomes of messages that are larger is not known.
        double measured_bytes = 0;
    };

    struct Found {
        std::vector<PlanEntry> entries, contenders;
    };

    /// `assumed_mpi`: that whose choice stands for what was not measured, see assumed_mpi().
    [[nodiscard]] Native native(Collective, std::int32_t num_ranks, std::int64_t bytes,
                                std::string_view assumed_mpi) const;
    /// The MPI, or nothing where its choice among these members is not known.
    [[nodiscard]] std::string_view assumed_mpi(std::span<const Rank> members) const;
    static double native_s(const Native&, const Ordered&, std::int32_t num_ranks, std::int64_t bytes);
    /// Null for an algorithm that sends too many messages.
    const cost::Rounds* rounds(const collectives::Algorithm&, std::int32_t num_ranks);
    /// @throws InvalidInput  for an algorithm that sends too many messages
    Ordered ordered(const collectives::Algorithm&, std::span<const Rank> members, std::vector<Rank> order);
    Ordered ordered(const collectives::Algorithm&, const cost::Rounds&, std::span<const Rank> members,
                    std::vector<Rank> order, std::vector<std::int32_t> starts = {});
    /// Every algorithm in every order, those that are too large for a schedule too: natively they may be in use.
    std::vector<Ordered> candidates(Collective, std::span<const Rank> members);
    /// An algorithm with starts, in each order in which some ways between neighbours are slower or longer than others.
    void add_with_starts(const collectives::Algorithm&, std::span<const Rank> members,
                         const std::vector<std::vector<Rank>>& orders, std::vector<Ordered>& found);
    /// Orders worth trying: that of the ranks, and along the network.
    const std::vector<std::vector<Rank>>& orders(std::span<const Rank> members);
    [[nodiscard]] Choice best(const std::vector<Ordered>& candidates, std::int32_t num_ranks, std::int64_t bytes) const;
    const Found& found(Collective, std::span<const Rank> members);
    Found decide(Collective, std::span<const Rank> members);

    const Network& network_;
    CostModel costs_;
    std::string mpi_;
    std::vector<std::int64_t> segment_bytes_;
    std::map<Collective, std::vector<Native>> natives_;  // those that are known, in increasing order of bytes
    std::map<Key, cost::Rounds> rounds_;
    std::map<std::pair<Collective, std::vector<NodeId>>, Found> found_;
    std::pair<std::vector<Rank>, std::vector<std::vector<Rank>>> orders_;  // of the last members
    cost::LinkSums of_links_;
};

}  // namespace hocket::decision
