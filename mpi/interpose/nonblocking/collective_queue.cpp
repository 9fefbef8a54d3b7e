// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/collective_queue.hpp"

#include <limits>
#include <new>
#include <utility>

#include "common/clock.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/choices.hpp"
#include "interpose/private_communicators.hpp"
#include "interpose/settings.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

using runtime::CollectiveTask;
using selection::Selector;
using State = runtime::Task::State;

namespace {

// Prepared schedules are kept for so many calls.
constexpr std::size_t max_idle = 32;

PrivateCommunicators queue_communicators;

std::mutex closed_mutex;
std::vector<std::shared_ptr<CollectiveQueue>> closed;  // what the program has freed while calls were pending

void close(std::shared_ptr<CollectiveQueue> queue) {
    const std::lock_guard lock(closed_mutex);
    closed.push_back(std::move(queue));
}

void release_closed(bool waits) {
    const std::lock_guard lock(closed_mutex);
    std::erase_if(closed, [&](const auto& queue) { return queue.use_count() == 1 && queue->release(waits); });
}

/// Where arguments matter at the root only, others may have anything there.
Call significant(Call call, int rank) {
    if (call.root == rank) return call;
    if (call.collective == Collective::gather) call.arguments.recv = {};
    if (call.collective == Collective::scatter) call.arguments.send = {};
    return call;
}

runtime::NativeCollective native_collective(const Call& call) {
    using runtime::NativeCollective;
    switch (kind_of(call)) {
        case CallKind::allgatherv:
            return NativeCollective::allgatherv;
        case CallKind::reduce_scatter:
            return NativeCollective::reduce_scatter;
        default:
            return static_cast<NativeCollective>(call.collective);
    }
}

}  // namespace

void CollectiveQueue::enqueue(PlannedCall& call) {
    const std::lock_guard lock(mutex_);
    turns_.push_back({call.key_, kind_of(call.call_), call.entry_, call.compares_, &call});
}

void CollectiveQueue::pass_over(const PlannedCall& refused) {
    const std::lock_guard lock(mutex_);
    turns_.push_back({refused.key_, kind_of(refused.call_), refused.entry_, refused.compares_, nullptr});
}

CollectiveQueue::Selection& CollectiveQueue::selection_of(const Turn& turn) {
    const auto found = selections_.find(turn.key);
    if (found != selections_.end()) return found->second;
    // How many calls are in flight is for the ranks to find out.
    Selection& made = selections_.try_emplace(turn.key, Selection{Selector(2, native, 0)}).first->second;
    const bool is_measured = turn.entry->evidence && !is_uneven(turn.kind);
    made.selector.trust(schedule, is_measured ? turn.entry->evidence->ratio : 0);
    return made;
}

/// False while the exchange of what the ranks have measured is under way.
bool CollectiveQueue::decide(const Turn& turn, Arm& arm) {
    arm = schedule;
    if (!turn.compares) return true;
    Selection& selection = selection_of(turn);
    if (selection.selector.is_due()) {
        bool done = false;
        if (selection.exchange.test(done) == MPI_SUCCESS && !done) return false;
        selection.selector.conclude(selection.exchange.all());
    }
    arm = static_cast<Arm>(selection.selector.next());
    if (selection.selector.exchanges()) selection.exchange.begin(selection.selector.statement(), private_comm_);
    return true;
}

void CollectiveQueue::count(const Turn& turn, Arm arm) {
    EntryCount& count = *std::get<0>(turn.key);
    if (arm == schedule) {
        count.rerouted.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const Selector& selector = selection_of(turn).selector;
    if (selector.chosen() != native) {
        count.self_check.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    count.after_fall_back.fetch_add(1, std::memory_order_relaxed);
    std::int64_t none = 0;
    const std::int64_t call = selector.arm(native).calls + selector.arm(schedule).calls;
    if (!count.fell_back_at_call.compare_exchange_strong(none, call)) return;
    count.native_ns = selector.arm(native).agreed_ns;
    count.schedule_ns = selector.arm(schedule).agreed_ns;
    if (rank_ == 0) log_fall_back(turn.kind, *turn.entry, count, call, Selector::policy.lost_comparisons);
}

CollectiveQueue::TaskKey CollectiveQueue::task_key(const PlannedCall& call, Arm arm) {
    return {std::get<0>(call.key_), call.call_.root, arm, arm == schedule ? call.asked_segments_ : 1};
}

std::unique_ptr<CollectiveTask> CollectiveQueue::task_for(const PlannedCall& call, Arm arm) {
    const Call& of = call.call_;
    auto& idle = idle_[task_key(call, arm)];
    if (!idle.empty()) {
        std::unique_ptr<CollectiveTask> task = std::move(idle.back());
        idle.pop_back();
        --num_idle_;
        return task;
    }
    if (arm == native) return runtime::make_native_task(native_collective(of), of.root, private_comm_);
    const Rank root{of.root}, self{rank_};
    PlannedPart part = part_of(call.entry_->schedule, root, self, call.asked_segments_);
    auto graph = std::make_shared<const runtime::RankGraph>(std::move(part.schedule));
    return runtime::make_schedule_task({of.collective, size_, root, self, part.segments}, std::move(graph),
                                       private_comm_);
}

// The MPI's own functions and the exchanges begin here too: MPI matches them by their order.
void CollectiveQueue::take_turns() noexcept {
    const std::lock_guard lock(mutex_);
    while (!turns_.empty()) {
        const Turn turn = turns_.front();
        Arm arm = schedule;
        try {
            if (!decide(turn, arm)) return;
        } catch (const std::exception&) {
        }
        turns_.pop_front();
        ++num_begun_;
        if (turn.call == nullptr) continue;
        count(turn, arm);
        PlannedCall& call = *turn.call;
        call.arm_ = arm;
        if (call.compares_) call.begun_ns_ = now_ns();
        try {
            call.task_ = task_for(call, arm);
            call.error_ = call.task_->bind(call.held_.get(), call.own_blocks_.arguments());
            call.task_->arm(num_begun_);
            if (call.error_ == MPI_SUCCESS) {
                call.is_over_ = call.task_->advance() == State::done;
            } else {
                call.task_.reset();
            }
        } catch (const std::bad_alloc&) {
            call.error_ = MPI_ERR_NO_MEM;
        } catch (const std::exception&) {
            call.error_ = MPI_ERR_INTERN;
        }
        call.has_begun_.store(true, std::memory_order_release);
    }
}

void CollectiveQueue::ended(PlannedCall& call) {
    const std::lock_guard lock(mutex_);
    if (call.compares_ && call.error_ == MPI_SUCCESS) {
        const auto found = selections_.find(call.key_);
        if (found != selections_.end()) found->second.selector.took(call.arm_, call.ended_ns_ - call.begun_ns_);
    }
    if (!call.task_ || call.error_ != MPI_SUCCESS || num_idle_ == max_idle) return;
    call.task_->unbind();
    idle_[task_key(call, call.arm_)].push_back(std::move(call.task_));
    ++num_idle_;
}

bool CollectiveQueue::release(bool waits) {
    const std::lock_guard lock(mutex_);
    for (auto& [key, selection] : selections_) {
        bool done = true;
        if (waits) {
            selection.exchange.wait();
        } else {
            selection.exchange.test(done);
        }
        if (!done) return false;
    }
    idle_.clear();
    queue_communicators.release(&private_comm_);
    return true;
}

PlannedCall::PlannedCall(std::shared_ptr<CollectiveQueue> queue, const PlanEntry& entry, EntryCount& count,
                         const Call& call, std::int64_t bytes)
    : queue_(std::move(queue)),
      entry_(&entry),
      asked_segments_(segments_of(entry.schedule, bytes)),
      key_(&count, size_class_of(bytes), call.root),
      call_(significant(call, queue_->rank_)),
      // What must be combined in the same order every time, and what no int counts, is not for the MPI's own function.
      compares_(settings.checks_itself && !entry_->reproducible && bytes <= std::numeric_limits<int>::max()) {
    own_blocks_.copy(call_.arguments.blocks, queue_->size_);
}

// The engine's thread may be here: the communicator is freed later, in a call of the program.
PlannedCall::~PlannedCall() {
    if (owns_queue_) close(std::move(queue_));
}

void PlannedCall::move_to(std::shared_ptr<CollectiveQueue> own_queue) {
    queue_ = std::move(own_queue);
    owns_queue_ = true;
}

void PlannedCall::renew() {
    error_ = MPI_SUCCESS;
    is_over_ = false;
    has_begun_.store(false, std::memory_order_relaxed);
}

State PlannedCall::advance() noexcept {
    if (!has_begun_.load(std::memory_order_acquire)) {
        queue_->take_turns();
        if (!has_begun_.load(std::memory_order_acquire)) return State::waiting;
    }
    const State state = !task_ || is_over_ ? State::done : task_->advance();
    // Not when the program has waited for it, which may be when it has waited for others too.
    if (state == State::done && compares_) ended_ns_ = now_ns();
    return state;
}

int PlannedCall::finish() {
    if (error_ == MPI_SUCCESS) error_ = task_->error();
    queue_->ended(*this);
    if (error_ != MPI_SUCCESS) report(error_);
    return error_;
}

void PlannedCall::report(int code) const {
    const MPI_Comm comm = queue_->program_comm();
    PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
}

std::shared_ptr<CollectiveQueue> make_queue(MPI_Comm comm, int rank, int size) {
    MPI_Comm private_comm = MPI_COMM_NULL;
    if (!queue_communicators.make(comm, &private_comm)) return nullptr;
    return std::make_shared<CollectiveQueue>(std::make_shared<std::atomic<MPI_Comm>>(comm), private_comm, rank, size);
}

std::shared_ptr<CollectiveQueue> CollectiveQueue::make_another(bool wanted) const {
    MPI_Comm private_comm = MPI_COMM_NULL;
    if (!queue_communicators.make(program_comm(), &private_comm, wanted)) return nullptr;
    return std::make_shared<CollectiveQueue>(program_comm_, private_comm, rank_, size_);
}

void close_queue(std::shared_ptr<CollectiveQueue> queue) {
    close(std::move(queue));
    release_closed(false);
}

void release_closed_queues() { release_closed(false); }

void release_queues() { release_closed(true); }

}  // namespace hocket::interpose
