// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "interpose/functions.hpp"
#include "interpose/nonblocking/proxy.hpp"
#include "interpose/nonblocking/request_table.hpp"
#include "interpose/settings.hpp"
#include "runtime/engine.hpp"

namespace hocket::interpose {

/// A call that has started communication.
struct Started {
    Function function;
    MPI_Comm comm;
    std::int64_t bytes;
    MPI_Op op = MPI_OP_NULL;
};

/// Communication of the program that goes on while the program computes: a thread looks at its collectives, and while
/// large messages are under way it enters the MPI. Off unless asked for. What is decided is for this rank alone.
class Progress {
public:
    /// After MPI_Init with MPI_THREAD_MULTIPLE. `program_level` is the thread level that the program knows of. False if
    /// there is no thread to be had.
    bool start(ProgressMode mode, int core, int program_level);
    /// Before MPI_Finalize: waits for collectives that the program has freed, and ends the thread.
    void stop();

    /// An operator of the program's own runs in whatever thread is inside the MPI: the program must expect several.
    [[nodiscard]] bool is_for_any_thread(MPI_Op op) const;
    /// Starts a reduction whose operator is not, or the duplication of a communicator. Until it has been completed the
    /// engine's thread stays outside the MPI; for `kind` see Background::enter_mpi.
    int start_alone(TrackedRequest::Kind kind, const std::function<int()>& start, MPI_Request* request);

    /// The non-blocking collective that has just been started: puts a proxy in the place of its request, or does not.
    void adopt(const Started& started, MPI_Request* request);
    /// Starts a call by the plan instead. Returns an MPI error code.
    int launch(std::unique_ptr<PlannedCall> call, Function function, MPI_Request* request);
    void adopt_message(const Started& started, MPI_Request request);
    /// The non-blocking collective access to a file that has just been started. ROMIO starts collectives, and completes
    /// them, when the program completes this request: these are not the program's.
    void adopt_file(MPI_Request request);
    /// The persistent one that has just been made, which the plan serves unless `planned` is null, or started.
    void adopt_persistent(const Started& started, std::unique_ptr<PlannedCall> planned, MPI_Request request);
    void restart(TrackedRequest tracked, MPI_Request request);
    /// Starts one that the plan serves. Returns an MPI error code.
    int start_persistent(Proxy& proxy);

    /// A look at what is pending, before a call of the program that completes something.
    void help();
    void wait_until(const std::function<bool()>& holds);
    /// The caller is about to wait inside the MPI, which makes messages move. An error handler of the program may leave
    /// the wait by longjmp: the thread counts once, and no longer when it sends or receives.
    void enter_wait() {
        if (!std::exchange(is_waiting_, true)) num_waits_.fetch_add(1, std::memory_order_relaxed);
    }
    void leave_wait() {
        if (std::exchange(is_waiting_, false)) num_waits_.fetch_sub(1, std::memory_order_relaxed);
    }

    struct Count {
        std::atomic<std::int64_t> calls{0}, in_background{0};
    };
    using Counts = std::array<std::array<Count, num_size_classes>, num_functions>;
    [[nodiscard]] const Counts& counts() const { return counts_; }
    [[nodiscard]] double thread_cpu_s() const { return thread_cpu_s_; }

private:
    class Poke;
    std::shared_ptr<Choices> choices_of(MPI_Comm comm);
    Choice::Way choose(Function function, std::size_t size_class, TrackedRequest& tracked);
    bool begin(Proxy& proxy, MPI_Request real, bool is_persistent);
    void count_planned(Function function, std::size_t size_class);

    ProgressMode mode_ = ProgressMode::off;
    bool runs_user_operators_ = false;
    std::unique_ptr<runtime::Engine> engine_;
    std::unique_ptr<Poke> poke_;
    std::atomic<bool> is_poking_{false};
    std::atomic<int> num_waits_{0};
    static inline thread_local bool is_waiting_ = false;
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
