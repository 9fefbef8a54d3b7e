// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/plan/planned_schedule.hpp"

/// Which schedule serves which collective call of one program on one network.
namespace hocket {

/// What was predicted or measured of even blocks is taken to hold where no block is larger than so many times the mean
/// (docs/explanation/plans.md).
inline constexpr std::int64_t most_uneven = 2;

/// How an entry was shown to be faster than the MPI's own function.
struct Evidence {
    std::string mpi;                           ///< "Open MPI 4.1.4"
    std::int32_t launches;                     ///< of a program that measured native and new calls in turns
    std::int32_t repetitions;                  ///< measurements of each kind in a launch, at least
    double ratio;                              ///< median native time / median tuned time
    std::pair<double, double> ratio_interval;  ///< 95 % confidence
    bool operator==(const Evidence&) const = default;
};

/// One schedule and the calls that it serves. What a Plan holds has passed check().
struct PlanEntry {
    Collective collective;
    std::vector<std::int32_t> members;  ///< world ranks in the order of the communicator
    /// The message of bcast, reduce and allreduce; the block of one rank for the others; 0 for barrier.
    std::int64_t bytes_min, bytes_max;
    std::optional<Rank> root;  ///< in the communicator; none = any root
    PlannedSchedule schedule;
    std::vector<std::vector<std::int32_t>> other_members{};  ///< communicators of the same shape that it serves too
    std::optional<double> predicted_s{}, lower_bound_s{};    ///< of a call, simulated
    std::optional<double> native_s{}, tuned_s{};             ///< of a call, measured medians
    std::int64_t calls = 0;                                  ///< in the recorded run
    std::optional<Evidence>
        evidence{};  ///< of sizes that were measured; others are derived from these, or by the model
    bool reproducible =
        false;  ///< every call uses this schedule: a running program does not compare it with native ones

    [[nodiscard]] std::int32_t num_ranks() const { return schedule.num_ranks(); }
    bool operator==(const PlanEntry&) const = default;
};

/// @throws InvalidInput  unless the entry's numbers, members and schedule fit each other, and all members are below
/// `limit`
void check(const PlanEntry&, std::int64_t limit = std::int64_t{1} << 31);

/// "bcast of 1000000 B on 8 ranks: pipelined_chain, 64 segments"
std::string describe(const PlanEntry&);

/// Whether it serves communicators of these members.
bool serves_members(const PlanEntry&, std::span<const std::int32_t> members);
/// Whether it serves such calls on them. `root` is -1, or anything, where the collective has none.
inline bool serves_call(const PlanEntry& entry, std::int64_t bytes, std::int32_t root) {
    return bytes >= entry.bytes_min && bytes <= entry.bytes_max && (!entry.root || entry.root->value == root);
}
/// Whether the first is asked before the second: it names its root, and the second does not.
inline bool goes_before(const PlanEntry& first, const PlanEntry& second) {
    return first.root.has_value() && !second.root.has_value();
}

/// Of non-blocking communication in the background: "off", "on", "auto".
std::span<const std::string_view> progress_modes();

/// Entries of which no two with the same root serve the same call, nor two without one.
class Plan {
public:
    /// Serves nothing.
    Plan() = default;
    /// @param progress  one of progress_modes()
    /// @param hosts     of each rank when the plan was made; empty = not known
    /// @throws InvalidInput
    Plan(std::int32_t ranks, std::string network, std::vector<PlanEntry> entries, std::string created_by = {},
         std::string progress = "off", std::vector<std::string> hosts = {});

    [[nodiscard]] std::int32_t ranks() const { return ranks_; }
    [[nodiscard]] const std::string& network() const { return network_; }
    [[nodiscard]] const std::vector<PlanEntry>& entries() const { return entries_; }
    [[nodiscard]] const std::string& created_by() const { return created_by_; }
    [[nodiscard]] const std::string& progress() const { return progress_; }
    [[nodiscard]] const std::vector<std::string>& hosts() const { return hosts_; }

    bool operator==(const Plan&) const = default;

private:
    std::int32_t ranks_ = 1;
    std::string network_;
    std::vector<PlanEntry> entries_;
    std::string created_by_;
    std::string progress_ = "off";
    std::vector<std::string> hosts_;
};

/// The entry that serves a call, or null: the first one, but those that name the root go before.
const PlanEntry* entry_for(const Plan&, Collective, std::span<const std::int32_t> members, std::int64_t bytes,
                           std::int32_t root);

/// @throws InvalidInput  unless a plan for `planned` ranks is one for a program of `started`
void require_ranks_of_program(std::int32_t planned, std::int32_t started, std::string_view source);

}  // namespace hocket
