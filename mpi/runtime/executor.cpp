// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/executor.hpp"

#include <algorithm>

#include "runtime/message.hpp"

namespace hocket::runtime {

namespace {

constexpr int receiving = 0, sending = 1;

int direction(OpKind kind) { return kind == OpKind::send ? sending : receiving; }

// Enough to keep a network busy with messages of a few kilobytes; a pipeline of 1000 segments must not post 1000
// requests, since MPI searches its queues. lift_limits() keeps this from ever blocking a schedule.
constexpr std::int32_t max_in_flight = 64;

// Receives that reduce are posted before their turn so that messages find a buffer, but only a few and small ones.
constexpr std::int32_t max_early = max_in_flight / 4;
constexpr std::int64_t max_early_bytes = 1 << 20;

// MPIs have such messages buffered or gone when MPI_Isend returns.
constexpr std::int64_t max_soon_sent_bytes = 8192;

}  // namespace

Executor::Executor(const RankGraph& graph, Memory& memory, MPI_Comm comm)
    : graph_(graph), memory_(memory), comm_(comm), channels_(static_cast<std::size_t>(graph.num_channels())) {
    std::vector<std::size_t> num_messages(channels_.size());
    for (std::int32_t i = 0; i < graph_.num_ops(); ++i) ++num_messages[static_cast<std::size_t>(graph_.channel(i))];
    // Now, since between posting a message and recording it no memory may be wanted.
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        channels_[i].requests.reserve(num_messages[i]);
        channels_[i].ops.reserve(num_messages[i]);
    }
    active_.reserve(channels_.size());
    for (std::int32_t i = 0; i < graph_.num_ops(); ++i) {
        const std::int32_t waits = graph_.num_dependencies()[static_cast<std::size_t>(i)];
        first_states_.push_back({waits, waits, -1, false, false});
        if (waits == 0) first_ready_[direction(graph_.op(i).kind)].push_back(i);
    }
}

void Executor::start(MPI_Op op, bool commutative, int first_tag, std::optional<ReturnedErrors>& errors) {
    returned_errors_ = &errors;
    op_ = op;
    commutative_ = commutative;
    first_tag_ = first_tag;
    error_ = MPI_SUCCESS;
    left_ = graph_.num_ops();
    limit_ = max_in_flight;
    next_early_ = 0;
    out_of_turn_ = false;
    finished_.clear();
    for (const int way : {receiving, sending}) {
        ready_[way] = first_ready_[way];
        next_ready_[way] = 0;
        in_flight_[way] = 0;
    }
    states_ = first_states_;
}

bool Executor::progress(bool at_all) {
    advanced_ = false;
    do {
        post_ready();
        if (left_ == 0) return true;
        choose(at_all || out_of_turn_);
        if (!test_chosen()) {
            abandon();
            return true;
        }
        remove_completed();
    } while (!completed_.empty());
    return left_ == 0;
}

void Executor::choose(bool at_all) {
    chosen_.clear();
    places_.clear();
    for (const std::int32_t number : active_) {
        const Channel& from = channel(number);
        for (std::size_t i = from.oldest; i < from.requests.size(); ++i) {
            if (from.requests[i] == MPI_REQUEST_NULL) continue;
            chosen_.push_back(from.requests[i]);
            places_.push_back({number, i});
            if (!at_all) break;
        }
    }
}

bool Executor::test_chosen() {
    completed_.clear();
    if (chosen_.empty()) return true;
    // An MPI looks after the network in each test, so all are tested in one call. It is a short list, for that call
    // costs more the more requests it has: MPICH over UCX asks the kernel once for every eight.
    int num_completed = 0, code = MPI_SUCCESS;
    completed_.resize(chosen_.size());
    catch_errors_of_tests();
    if (chosen_.size() == 1) {
        code = PMPI_Test(chosen_.data(), &num_completed, MPI_STATUS_IGNORE);
        check(code);
        if (code != MPI_SUCCESS && chosen_[0] != MPI_REQUEST_NULL) return false;
        if (code != MPI_SUCCESS) num_completed = 1;
        completed_[0] = 0;
    } else {
        statuses_.resize(chosen_.size());
        code = PMPI_Testsome(static_cast<int>(chosen_.size()), chosen_.data(), &num_completed, completed_.data(),
                             statuses_.data());
        int error_class = code;
        if (code != MPI_SUCCESS) PMPI_Error_class(code, &error_class);
        if (error_class == MPI_ERR_IN_STATUS) {
            for (int i = 0; i < num_completed; ++i) check(statuses_[static_cast<std::size_t>(i)].MPI_ERROR);
        } else if (code != MPI_SUCCESS) {
            check(code);
            for (std::size_t i = 0; i < chosen_.size(); ++i) {  // some may have ended
                channel(places_[i].channel).requests[places_[i].position] = chosen_[i];
            }
            return false;
        }
    }
    completed_.resize(static_cast<std::size_t>(std::max(0, num_completed)));
    for (const int i : completed_) {
        const auto [number, position] = places_[static_cast<std::size_t>(i)];
        channel(number).requests[position] = MPI_REQUEST_NULL;
        --in_flight_[direction(graph_.op(channel(number).ops[position]).kind)];
        advanced_ = true;
    }
    for (const int i : completed_) {  // may throw: what MPI has freed is recorded before
        const auto [number, position] = places_[static_cast<std::size_t>(i)];
        arrived(channel(number).ops[position]);
    }
    for (const int i : completed_) {
        const Channel& from = channel(places_[static_cast<std::size_t>(i)].channel);
        out_of_turn_ = out_of_turn_ || from.requests[from.oldest] != MPI_REQUEST_NULL;
    }
    return true;
}

void Executor::remove_completed() {
    if (completed_.empty()) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        Channel& from = channel(active_[i]);
        while (from.oldest < from.requests.size() && from.requests[from.oldest] == MPI_REQUEST_NULL) ++from.oldest;
        from.active = from.oldest < from.requests.size();
        if (from.active) {
            active_[kept++] = active_[i];
        } else {
            from.requests.clear();
            from.ops.clear();
            from.oldest = 0;
        }
    }
    active_.resize(kept);
}

void Executor::post_ready() {
    const auto may_post = [&](int way) { return next_ready_[way] < ready_[way].size() && in_flight_[way] < limit_; };
    // Posting opens gates and finishes empty messages, which may make more ready.
    do {
        for (const int way : {receiving, sending}) {
            while (may_post(way)) {
                const std::int32_t op = ready_[way][next_ready_[way]++];
                if (!state(op).posted) post(op);
            }
        }
        post_early();
    } while (may_post(receiving) || may_post(sending));
}

void Executor::post_early() {
    const auto& reductions = graph_.reductions();
    while (next_early_ < reductions.size() && in_flight_[receiving] < max_early) {
        const std::int32_t op = reductions[next_early_];
        if (!state(op).posted) {
            segments_.clear();
            const std::int64_t bytes = memory_.find(graph_.ranges(op), segments_) * memory_.element().extent_bytes;
            if (bytes * (in_flight_[receiving] + 1) > max_early_bytes) return;
            post(op);
        }
        ++next_early_;
    }
}

void Executor::post(std::int32_t op) {
    const Op& what = graph_.op(op);
    state(op).posted = true;
    segments_.clear();
    const std::int64_t elements = memory_.find(graph_.ranges(op), segments_);
    if (elements == 0 && what.num_ranges > 0) {  // both ends know that there is nothing to send
        if (what.kind == OpKind::send) started(op);
        return arrived(op);
    }
    if (reduces(what.kind)) {
        state(op).slot = take_slot(elements);
        char* address = elements_in(slots_[static_cast<std::size_t>(state(op).slot)], memory_.element(), elements);
        for (Segment& segment : segments_) {
            segment.address = address;
            address += segment.count * memory_.element().extent_bytes;
        }
        join(segments_, memory_.element().extent_bytes);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    const Message message{segments_, memory_.element_type(), what.peer.value, first_tag_ + graph_.tag(op), comm_};
    const int code = what.kind == OpKind::send ? send(message, &request) : receive(message, &request);
    check(code);
    if (code != MPI_SUCCESS) {
        if (what.kind == OpKind::send) started(op);
        return arrived(op);
    }
    int done = 0;
    if (what.kind == OpKind::send && elements * memory_.element().size_bytes <= max_soon_sent_bytes) {
        catch_errors_of_tests();
        check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
    if (request == MPI_REQUEST_NULL) {
        started(op);
        return arrived(op);
    }
    const std::int32_t number = graph_.channel(op);
    Channel& to = channel(number);
    to.requests.push_back(request);
    to.ops.push_back(op);
    if (!to.active) active_.push_back(number);
    to.active = true;
    ++in_flight_[direction(what.kind)];
    if (what.kind == OpKind::send) started(op);
}

void Executor::started(std::int32_t send) {
    // A receive that reduces has a buffer of its own: it need not wait until a send that it depends on has completed.
    for (const std::int32_t next : graph_.successors(send)) {
        if (reduces(graph_.op(next).kind)) open_gate(next);
    }
}

void Executor::open_gate(std::int32_t op) {
    if (--state(op).waits_to_post == 0 && !state(op).posted) ready_[direction(graph_.op(op).kind)].push_back(op);
}

void Executor::arrived(std::int32_t op) {
    state(op).arrived = true;
    if (reduces(graph_.op(op).kind) && state(op).waits_to_finish > 0) return;
    finish(op);
}

void Executor::finish(std::int32_t first) {
    // A work list, since chains of receives that have arrived out of turn may be long.
    finished_.push_back(first);
    for (std::size_t i = 0; i < finished_.size(); ++i) {
        const std::int32_t op = finished_[i];
        const bool sent = graph_.op(op).kind == OpKind::send;
        if (reduces(graph_.op(op).kind)) combine(op);
        --left_;
        for (const std::int32_t next : graph_.successors(op)) {
            const bool combines_next = reduces(graph_.op(next).kind);
            if (!combines_next || !sent) open_gate(next);
            if (combines_next && --state(next).waits_to_finish == 0 && state(next).arrived) finished_.push_back(next);
        }
    }
    finished_.clear();
}

void Executor::combine(std::int32_t op) {
    OpState& current = state(op);
    if (current.slot < 0) return;  // an empty message
    if (error_ == MPI_SUCCESS) apply(op);
    free_slots_.push_back(current.slot);
    current.slot = -1;
}

void Executor::apply(std::int32_t op) {
    segments_.clear();
    const std::int64_t elements = memory_.find(graph_.ranges(op), segments_);
    char* received = elements_in(slots_[static_cast<std::size_t>(state(op).slot)], memory_.element(), elements);
    const MPI_Datatype type = memory_.element_type();
    if (op_ != tried_op_ || type != tried_type_) catch_errors();
    for (const Segment& own : segments_) {
        // MPI_Reduce_local(a, b) computes b = a (op) b.
        if (graph_.op(op).kind == OpKind::recv_reduce_left || commutative_) {
            check(PMPI_Reduce_local(received, own.address, own.count, type, op_));
        } else {
            check(PMPI_Reduce_local(own.address, received, own.count, type, op_));
            check(copy({received, own.count, type}, {own.address, own.count, type}, comm_));
        }
        received += own.count * memory_.element().extent_bytes;
    }
    if (error_ != MPI_SUCCESS || !memory_.element().named) return;
    tried_op_ = op_;
    tried_type_ = type;
}

std::int32_t Executor::take_slot(std::int64_t elements) {
    if (free_slots_.empty()) {
        slots_.emplace_back();
        free_slots_.push_back(static_cast<std::int32_t>(slots_.size() - 1));
    }
    const std::int32_t slot = free_slots_.back();
    free_slots_.pop_back();
    elements_in(slots_[static_cast<std::size_t>(slot)], memory_.element(), elements);
    return slot;
}

void Executor::check(int code) {
    if (error_ == MPI_SUCCESS) error_ = code;
}

void Executor::catch_errors() {
    if (!*returned_errors_) returned_errors_->emplace();
}

void Executor::catch_errors_of_tests() {
#ifndef OPEN_MPI  // it asks the communicator of the request
    catch_errors();
#endif
}

void Executor::abandon() noexcept {  // MPI does not report which messages have ended
    left_ = 0;
    for (const std::int32_t number : active_) {
        Channel& left = channel(number);
        for (std::size_t i = left.oldest; i < left.requests.size(); ++i) {
            if (left.requests[i] == MPI_REQUEST_NULL) continue;
            if (graph_.op(left.ops[i]).kind != OpKind::send) PMPI_Cancel(&left.requests[i]);
            PMPI_Request_free(&left.requests[i]);
        }
        left.requests.clear();
        left.ops.clear();
        left.oldest = 0;
        left.active = false;
    }
    active_.clear();
    for (Region& slot : slots_) slot.leave();
    slots_.clear();
    free_slots_.clear();
    memory_.leave_temporaries();
}

}  // namespace hocket::runtime
