// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/clock.hpp"
#include "interpose/call_kinds.hpp"

namespace hocket::interpose {

/// What became of a blocking collective call of the program.
enum class Outcome : std::uint8_t {
    measured,      ///< by a schedule, at a size and root for which the plan has evidence
    derived,       ///< by a schedule, where it has none
    collective,    ///< native: the plan has no entry for the collective
    communicator,  ///< native: none for the communicator's members
    size,          ///< native: none for the size and root
    order,         ///< native: the operator needs another order of operands, or a datatype that schedules cannot handle
    comparison,    ///< native: to compare its time
    slower,        ///< native: the schedule was found slower
    arguments,     ///< native: wrong or unusual arguments
    predicted,     ///< native: on this network no schedule is predicted to be faster at this size
    placement,     ///< native: the network does not have the host of a member
    uneven,        ///< native: the blocks of the ranks differ too much for what is known of even ones
    no_schedule,   ///< native: hocket has no schedule for the collective
};
constexpr std::size_t num_outcomes = 13;

/// Counts the program's collective calls and their time by kind and outcome. Of short calls some are timed, and
/// stand for the others.
class Served {
public:
    /// Before the first call. Counting is off until then.
    void count_calls() { counts_ = true; }
    [[nodiscard]] bool counts_calls() const { return counts_; }

    /// Calls `run(outcome)`, which sets its argument and returns an MPI error code, and counts it.
    template <class Run>
    int counted(CallKind kind, const Run& run) {
        Outcome outcome = Outcome::collective;
        Pace& pace = paces_[place_of(kind)];
        if (pace.calls.fetch_add(1, std::memory_order_relaxed) % pace.interval.load(std::memory_order_relaxed) != 0) {
            const int code = run(outcome);
            tally(kind, outcome).calls.fetch_add(1, std::memory_order_relaxed);
            return code;
        }
        const std::int64_t begin_ns = now_ns();
        const int code = run(outcome);
        timed(kind, outcome, now_ns() - begin_ns);
        return code;
    }

    struct Report {
        std::string json;     ///< "calls" of the statistics
        long long calls = 0;  ///< of all ranks
    };
    /// Collective over the world, at its end. On rank 0 it returns what was counted, and logs lines for people if
    /// `logs`.
    Report report(int world_rank, bool logs) const;

private:
    struct Tally {
        std::atomic<std::int64_t> calls{0}, timed_calls{0}, timed_ns{0};
    };
    struct Pace {
        std::atomic<std::uint64_t> calls{0}, interval{1};  ///< one call in `interval` is timed
    };
    Tally& tally(CallKind kind, Outcome outcome) { return tallies_[place_of(kind)][static_cast<std::size_t>(outcome)]; }
    void timed(CallKind kind, Outcome outcome, std::int64_t duration_ns);

    bool counts_ = false;
    std::array<Pace, num_kinds> paces_{};
    std::array<std::array<Tally, num_outcomes>, num_kinds> tallies_{};
};

/// Not destroyed, since other threads may still run when the process ends.
extern Served& served;

}  // namespace hocket::interpose
