// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "hocket/plan/plan.hpp"
#include "interpose/call_kinds.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/own_blocks.hpp"
#include "runtime/collective_task.hpp"
#include "selection/exchange.hpp"
#include "selection/selector.hpp"

namespace hocket::interpose {

class PlannedCall;

/// The non-blocking collectives of one communicator that the plan may serve. Ranks start a call at different times, and
/// none may wait for another there. So what needs all ranks, the choice between the schedule and the MPI's own
/// function, is made when somebody looks at the call: calls take their turn in the order of their starts, each once it
/// is known what the ranks have found before.
class CollectiveQueue {
public:
    using SharedComm = std::shared_ptr<std::atomic<MPI_Comm>>;
    /// `private_comm` carries messages and calls of this queue alone.
    CollectiveQueue(SharedComm program_comm, MPI_Comm private_comm, int rank, int size)
        : program_comm_(std::move(program_comm)), private_comm_(private_comm), rank_(rank), size_(size) {}

    /// At the start of a call.
    void enqueue(PlannedCall& call);
    /// For a call that hocket refuses on this rank: all ranks count it.
    void pass_over(const PlannedCall& refused);
    /// Begins calls whose turn has come. Does not wait.
    void take_turns() noexcept;
    /// The program has waited for the call.
    void ended(PlannedCall& call);

    /// MPI_COMM_NULL once the program has freed it.
    [[nodiscard]] MPI_Comm program_comm() const { return program_comm_->load(); }
    void forget_program_comm() { program_comm_->store(MPI_COMM_NULL); }
    /// One of the same communicator for the starts of one persistent collective: each rank may start those that it has
    /// in an order of its own. Collective. Null on all ranks if one of them does not want it, or if hocket may have no
    /// more private communicators.
    [[nodiscard]] std::shared_ptr<CollectiveQueue> make_another(bool wanted) const;
    /// Frees the communicator when nothing is pending. False while an exchange of times between the ranks is under way.
    bool release(bool waits);

private:
    using Key = std::tuple<EntryCount*, std::size_t, int>;  ///< of the entry, class of size, root
    struct Selection {
        selection::Selector selector;
        selection::Exchange exchange{{next.Iallreduce, next.Test, next.Wait}};
    };
    struct Turn {
        Key key;
        CallKind kind;
        const PlanEntry* entry;
        bool compares;
        PlannedCall* call;  ///< null: passed over
    };
    enum Arm : std::size_t { native = 0, schedule = 1 };

    bool decide(const Turn& turn, Arm& arm);
    Selection& selection_of(const Turn& turn);
    void count(const Turn& turn, Arm arm);
    std::unique_ptr<runtime::CollectiveTask> task_for(const PlannedCall& call, Arm arm);

    SharedComm program_comm_;
    MPI_Comm private_comm_;
    const int rank_, size_;
    std::mutex mutex_;  // guards all that follows
    std::deque<Turn> turns_;
    std::map<Key, Selection> selections_;
    using TaskKey = std::tuple<EntryCount*, int, Arm, std::int32_t>;  ///< of the entry, root, arm, segments
    static TaskKey task_key(const PlannedCall& call, Arm arm);
    std::map<TaskKey, std::vector<std::unique_ptr<runtime::CollectiveTask>>> idle_;
    std::size_t num_idle_ = 0;
    std::uint64_t num_begun_ = 0;
    friend class PlannedCall;
};

/// A call in a queue.
class PlannedCall {
public:
    PlannedCall(std::shared_ptr<CollectiveQueue> queue, const PlanEntry& entry, EntryCount& count, const Call& call,
                std::int64_t bytes);
    PlannedCall(const PlannedCall&) = delete;
    PlannedCall& operator=(const PlannedCall&) = delete;
    ~PlannedCall();

    /// Binds it to its arguments. Returns an MPI error code.
    int bind() { return held_.hold(call_.arguments, {}, 0); }
    void enter() { queue_->enqueue(*this); }
    void pass_over() { queue_->pass_over(*this); }
    /// It is a persistent one, and no other call is in this queue.
    void move_to(std::shared_ptr<CollectiveQueue> own_queue);
    /// Calls the error handler of the program's communicator.
    void report(int code) const;
    /// Before a persistent one starts once more.
    void renew();
    [[nodiscard]] std::size_t size_class() const { return std::get<1>(key_); }
    runtime::Task::State advance() noexcept;
    /// The program has completed its request. Returns the MPI error code; the communicator's error handler has been
    /// called.
    int finish();

private:
    friend class CollectiveQueue;
    std::shared_ptr<CollectiveQueue> queue_;
    bool owns_queue_ = false;
    const PlanEntry* entry_;
    const std::int32_t asked_segments_;
    CollectiveQueue::Key key_;
    Call call_;
    OwnBlocks own_blocks_;
    bool compares_;
    std::int64_t begun_ns_ = 0, ended_ns_ = 0;  // when its turn came, and when it was seen to be complete
    runtime::HeldArguments held_;
    CollectiveQueue::Arm arm_ = CollectiveQueue::schedule;
    std::unique_ptr<runtime::CollectiveTask> task_;
    int error_ = MPI_SUCCESS;
    bool is_over_ = false;  // in the first look of its turn
    std::atomic<bool> has_begun_{false};
};

/// Of a new communicator, all members of which call this. Null on all of them if hocket may have no more
/// private communicators.
std::shared_ptr<CollectiveQueue> make_queue(MPI_Comm comm, int rank, int size);
/// When the program has freed the communicator.
void close_queue(std::shared_ptr<CollectiveQueue> queue);
/// Frees what was closed and has nothing pending any more. Does not wait.
void release_closed_queues();
/// At the end, on all ranks.
void release_queues();

}  // namespace hocket::interpose
