// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "hocket/plan/plan.hpp"
#include "hocket/schedule/schedule.hpp"
#include "interpose/nonblocking/progress.hpp"

namespace hocket::interpose {

/// How often an entry was met.
struct EntryCount {
    std::atomic<std::int64_t> rerouted{0};
    std::atomic<std::int64_t> kept_native{0};  ///< calls with an operator that the schedule must not be used for
    std::atomic<std::int64_t> self_check{0};   ///< native to compare their time
    std::atomic<std::int64_t> after_fall_back{0};
    std::atomic<std::int64_t> fell_back_at_call{0};  ///< its first native call on a communicator; 0 = it did not
    /// Comparisons in a row that it has lost, on whatever communicators: what one has learnt holds for the next.
    std::atomic<std::int64_t> num_slower{0};
    std::atomic<std::int64_t> native_ns{0}, schedule_ns{0};  ///< of the last comparison
};

/// What holds between the end of MPI_Init and the beginning of MPI_Finalize. World rank 0 alone reads the environment and the
/// plan, so that all ranks hold the same plan whatever their environment and file systems.
///   HOCKET_PLAN        absolute path of the plan
///   HOCKET_VERBOSE=1   print at the end how often each entry was used
///   HOCKET_SELF_CHECK  off = do not look whether entries have become slower than the MPI's own functions
///   HOCKET_EVIDENCE    off = do not count on what was measured when the plan was made: it was with another MPI
///   HOCKET_PROGRESS    off, on, auto: whether non-blocking communication progresses in the background (progress.hpp)
///   HOCKET_PROGRESS_CORE  where its thread runs: any, idle or the number of a core
///   HOCKET_STATISTICS  path of a JSON file with the same, format "hocket.statistics/1"
class Session {
public:
    /// After MPI_Init. Collective over the world. `program_level` is the thread level that the program knows of.
    void start(int program_level);
    /// Reroutes calls from now on: what start() does once it has read plan and settings, and hocket-compare without these.
    void use(Plan plan);
    /// Before MPI_Finalize. Collective over the world.
    void stop();

    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] bool checks_itself() const { return checks_itself_; }
    void leave_check() { checks_itself_ = false; }
    [[nodiscard]] bool has_entries_for(Collective collective) const {
        return (planned_ >> static_cast<unsigned>(collective) & 1U) != 0;
    }
    EntryCount& count(std::size_t entry) { return counts_[entry]; }
    /// Says so, if anything is to be told. For one rank of the communicator.
    void tell_fall_back(std::size_t entry, std::int64_t call, int num_lost) const;

private:
    void share_settings(int world_rank);
    void start_plan(int world_rank);
    void compare_hosts(const Plan& plan, int world_rank) const;
    void start_progress(int world_rank, int program_level);
    void report(int world_rank) const;
    [[nodiscard]] std::string report_entries(int world_rank) const;
    [[nodiscard]] std::string report_progress(int world_rank) const;

    Plan plan_{};
    std::uint32_t planned_ = 0;  // bit c: the plan has entries for collective c
    std::unique_ptr<EntryCount[]> counts_;
    std::string plan_path_;
    bool reports_ = false;  // on rank 0 something is to be told at the end
    bool tells_ = false;    // to people
    bool checks_itself_ = true;
    bool ignores_evidence_ = false;
    std::string plan_text_;
    Progress::Mode progress_mode_ = Progress::Mode::off;  // as asked for
    int progress_core_ = runtime::any_core;
    bool has_communicators_ = false;
};

/// Not destroyed, since other threads may still run when the process ends.
extern Session& session;

/// Whether this process's environment asks for progress: only then its MPI gets a thread level above the program's own.
bool wants_progress();

/// Bit c: the session is on, and the plan has entries for collective c or calls are counted. The only thing that a call looks at
/// if not.
extern std::atomic<std::uint32_t> active_collectives;

/// The plan serves non-blocking collectives too: there is progress in the background, on all ranks.
extern std::atomic<bool> plan_is_in_background;

inline bool is_active(Collective collective) {
    return (active_collectives.load(std::memory_order_acquire) >> static_cast<unsigned>(collective) & 1U) != 0;
}

}  // namespace hocket::interpose
