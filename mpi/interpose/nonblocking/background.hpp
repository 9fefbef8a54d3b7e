// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>

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
    /// MPI_Recv; nor while the process is ending. Those in calls of the program do: functions that it has given to
    /// atexit, and destructors, may wait and call MPI_Finalize.
    bool enter_mpi() {
        num_inside_.fetch_add(1);
        if (depth > depth_in_thread) return true;
        const bool keeps_out = requests.any(TrackedRequest::alone) && num_planned_.load() == 0;
        if (!is_ending_.load() && num_starting_alone_.load() == 0 && !keeps_out) return true;
        leave_mpi();
        return false;
    }
    void leave_mpi() { num_inside_.fetch_sub(1); }
    [[nodiscard]] bool is_inside() const { return num_inside_.load() > 0; }

    /// Before a reduction is started that none but the program may move on, and when it has been.
    void begin_start_alone() { num_starting_alone_.fetch_add(1); }
    void end_start_alone() { num_starting_alone_.fetch_sub(1); }
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
    static constexpr int depth_in_thread = 1;  ///< of a look; in a call of the program that is inside as well
    std::atomic<int> num_pending_{0};
    std::atomic<int> num_planned_{0};  // of them, by the plan
    std::atomic<int> num_inside_{0};
    std::atomic<int> num_starting_alone_{0};
    std::atomic<bool> is_ending_{false};
};

/// Not destroyed, since other threads may still run when the process ends.
extern Background& background;

}  // namespace hocket::interpose
