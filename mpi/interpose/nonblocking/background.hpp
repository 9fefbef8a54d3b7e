// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <cstdint>

#include "common/clock.hpp"
#include "interpose/inside.hpp"
#include "interpose/nonblocking/request_table.hpp"

namespace hocket::interpose {

/// What the engine's thread and the calls of the program share: the program's requests, how many proxies are pending,
/// and whether a look at these may enter the MPI.
class Background {
public:
    RequestTable requests;

    /// A look at what is pending enters the MPI. That of the engine's thread does not beside a reduction that was
    /// started alone, unless a call by the plan is pending, which nothing else would move on while the program is in
    /// MPI_Recv; nor beside MPI_Comm_idup; nor while the process is ending. Those in calls of the program do: functions
    /// that it has given to atexit, and destructors, may wait and call MPI_Finalize.
    bool enter_mpi() {
        num_inside_.fetch_add(1);
        if (depth > depth_in_thread) return true;
        if (!is_ending_.load() && num_starting_alone_.load() == 0 && !keeps_out()) return true;
        leave_mpi();
        return false;
    }
    void leave_mpi() { num_inside_.fetch_sub(1); }
    [[nodiscard]] bool is_inside() const { return num_inside_.load() > 0; }

    /// Before something is started that none but the program may move on, and when it has been.
    void begin_start_alone() { num_starting_alone_.fetch_add(1); }
    void end_start_alone() { num_starting_alone_.fetch_sub(1); }
    /// MPI_Comm_idup has been started.
    void begin_duplicate() { duplicate_begun_ns_.store(now_ns()); }
    /// The process ends.
    void keep_out() { is_ending_.store(true); }

    /// Counts a proxy from now to end(), and returns how many there were.
    int begin(bool is_planned) {
        if (is_planned) num_planned_.fetch_add(1);
        return num_pending_.fetch_add(1);
    }
    void end(bool is_planned) {
        if (is_planned) num_planned_.fetch_sub(1);
        num_pending_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] bool any_pending() const { return num_pending_.load(std::memory_order_relaxed) > 0; }

private:
    // While MPI_Comm_idup is pending Open MPI 4.1 and 5.0 may make a communicator that does not work if the MPI moves
    // on where the program has not asked for it (docs/notebook/mpich-tests.md). The program may be in MPI_Recv
    // meanwhile, for a message that comes when a call by the plan has ended: so the thread does not stay outside for
    // ever.
    [[nodiscard]] bool keeps_out() const {
        const bool has_duplicate = requests.any(TrackedRequest::duplicate);
        if (num_planned_.load() == 0) return has_duplicate || requests.any(TrackedRequest::alone);
        return has_duplicate && now_ns() - duplicate_begun_ns_.load() < longest_stay_outside_ns;
    }

    static constexpr std::int64_t longest_stay_outside_ns = 1'000'000'000;
    static constexpr int depth_in_thread = 1;  ///< of a look; in a call of the program that is inside as well
    std::atomic<int> num_pending_{0};
    std::atomic<int> num_planned_{0};  // of them, by the plan
    std::atomic<int> num_inside_{0};
    std::atomic<int> num_starting_alone_{0};
    std::atomic<bool> is_ending_{false};
    std::atomic<std::int64_t> duplicate_begun_ns_{0};
};

/// Not destroyed, since other threads may still run when the process ends.
extern Background& background;

}  // namespace hocket::interpose
