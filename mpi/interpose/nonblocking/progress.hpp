// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "interpose/functions.hpp"
#include "interpose/inside.hpp"
#include "interpose/nonblocking/proxy.hpp"
#include "interpose/nonblocking/watches.hpp"
#include "runtime/engine.hpp"

namespace hocket::interpose {

/// Whether it is one of MPI's own. An operator of the user's runs in the thread that makes the collective move on.
bool is_predefined(MPI_Op op);

/// A call that has started communication.
struct Started {
    Function function;
    MPI_Comm comm;
    std::int64_t bytes;
    MPI_Op op = MPI_OP_NULL;
};

/// Communication of the program that goes on while the program computes: a thread looks at its collectives, and while large messages are
/// under way it enters the MPI. Off unless asked for. What is decided is for this rank alone.
class Progress {
public:
    enum class Mode { off, on, automatic };

    /// After MPI_Init with MPI_THREAD_MULTIPLE. `program_level` is the thread level that the program knows of. False if there is
    /// no thread to be had.
    bool start(Mode mode, int core, int program_level);
    /// Before MPI_Finalize: waits for collectives that the program has freed, and ends the thread.
    void stop();
    [[nodiscard]] Mode mode() const { return mode_; }

    /// An operator of the program's own runs in whatever thread is inside the MPI: the program must expect several.
    [[nodiscard]] bool is_for_any_thread(MPI_Op op) const;
    /// Starts a reduction whose operator is not. Until it has been completed the engine's thread stays outside the MPI.
    int start_alone(const std::function<int()>& start, MPI_Request* request);

    /// The non-blocking collective that has just been started: puts a proxy in the place of its request, or does not.
    void adopt(const Started& started, MPI_Request* request);
    /// Starts a call by the plan instead. Returns an MPI error code.
    int launch(std::unique_ptr<PlannedCall> call, Function function, MPI_Request* request);
    void adopt_message(const Started& started, MPI_Request request);
    /// The persistent one that has just been made, or started.
    void adopt_persistent(const Started& started, MPI_Request request);
    void restart(Watch watch, MPI_Request request);

    /// A look at what is pending, before a call of the program that completes something.
    void help();
    [[nodiscard]] bool must_help() const { return num_proxies_.load(std::memory_order_relaxed) > 0; }
    void wait_until(const std::function<bool()>& holds);
    /// The caller is about to wait inside the MPI, which makes messages move. An error handler of the program may leave the wait by
    /// longjmp: the thread counts once, and no longer when it sends or receives.
    void enter_wait() {
        if (!std::exchange(is_waiting_, true)) num_waits_.fetch_add(1, std::memory_order_relaxed);
    }
    void leave_wait() {
        if (std::exchange(is_waiting_, false)) num_waits_.fetch_sub(1, std::memory_order_relaxed);
    }

    /// A look at what is pending enters the MPI. That of the engine's thread does not beside a reduction that was started alone, unless
    /// a call by the plan is pending, which nothing else would move on while the program is in MPI_Recv; nor while the process is
    /// ending. Those in calls of the program do: functions that it has given to atexit, and destructors, may wait and call
    /// MPI_Finalize.
    bool enter_mpi() {
        num_inside_.fetch_add(1);
        if (depth > depth_in_thread) return true;
        const bool keeps_out = watches.any(Watch::alone) && num_planned_.load() == 0;
        if (!is_ending_.load() && num_starting_alone_.load() == 0 && !keeps_out) return true;
        leave_mpi();
        return false;
    }
    void leave_mpi() { num_inside_.fetch_sub(1); }
    /// At the end of a task that open() began.
    void ended(bool is_planned) {
        if (is_planned) num_planned_.fetch_sub(1);
        num_proxies_.fetch_sub(1, std::memory_order_relaxed);
    }
    /// What nobody holds any more.
    void give_back(Proxy* proxy);

    Watches watches;  ///< of the program's requests

    struct Count {
        std::atomic<std::int64_t> calls{0}, in_background{0};
    };
    using Counts = std::array<std::array<Count, num_size_classes>, num_functions>;
    [[nodiscard]] const Counts& counts() const { return counts_; }
    [[nodiscard]] double thread_cpu_s() const { return thread_cpu_s_; }

private:
    class Poke;
    static constexpr int depth_in_thread = 1;  ///< of a look; in a call of the program that is inside as well
    void end_at_exit();
    std::shared_ptr<Choices> choices_of(MPI_Comm comm);
    Choice::Way choose(Function function, std::size_t size_class, Watch& watch);
    bool begin(Proxy& proxy, MPI_Request real, bool is_persistent);
    Proxy* take();

    Mode mode_ = Mode::off;
    bool runs_user_operators_ = false;
    std::unique_ptr<runtime::Engine> engine_;
    std::unique_ptr<Poke> poke_;
    std::atomic<bool> is_poking_{false};
    std::atomic<int> num_proxies_{0};  // pending
    std::atomic<int> num_planned_{0};  // of them, by the plan
    std::atomic<int> num_inside_{0};
    std::atomic<int> num_starting_alone_{0};
    std::atomic<bool> is_ending_{false};
    std::atomic<int> num_waits_{0};
    static inline thread_local bool is_waiting_ = false;
    std::mutex pool_mutex_;
    std::deque<Proxy*> pool_;  // guarded
    Counts counts_;
    std::shared_ptr<Choices> message_choices_;
    double thread_cpu_s_ = 0;
};

/// Not destroyed, since other threads may still run when the process ends.
extern Progress& progress;

/// The only thing that the start of a call looks at while there is no progress.
extern std::atomic<bool> progress_is_on;

inline bool is_progress_on() { return progress_is_on.load(std::memory_order_relaxed); }

}  // namespace hocket::interpose
