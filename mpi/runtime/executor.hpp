// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/memory.hpp"
#include "runtime/rank_graph.hpp"

namespace hocket::runtime {

/// Executes the ops of one rank: each starts as soon as its dependencies allow, there are no rounds. Between start() and the
/// progress() that returns true the caller decides how to wait (see patience.hpp). One execution at a time.
class Executor {
public:
    /// `comm` carries nothing but the messages of schedules. All three must outlive the executor.
    Executor(const RankGraph& graph, const Memory& memory, MPI_Comm comm);

    /// Begins the collective on the buffers that `memory` has opened. Its messages have num_message_tags tags from `first_tag` on.
    void start(MPI_Op op, bool commutative, int first_tag);
    /// Moves on what can be moved. True when all is done. An error does not end the schedule, since other ranks wait for what this
    /// one sends: a message that failed counts as done.
    bool progress();
    /// Whether the last progress() completed anything.
    [[nodiscard]] bool advanced() const { return advanced_; }
    /// MPI_SUCCESS or the first error.
    [[nodiscard]] int error() const { return error_; }
    /// Posts all that is ready: for when nothing moves for long.
    void lift_limits() { limit_ = graph_.num_ops(); }

private:
    struct OpState {
        std::int32_t waits_to_post;    // dependencies that hold back the message
        std::int32_t waits_to_finish;  // dependencies that hold back the result (of a receive that reduces)
        std::int32_t slot;             // where its message arrives, -1 = in place
        bool posted;
        bool arrived;
    };
    OpState& state(std::int32_t op) { return states_[static_cast<std::size_t>(op)]; }

    void post_ready();
    void post_early();
    void post(std::int32_t op);
    void started(std::int32_t op);
    void arrived(std::int32_t op);
    void combine(std::int32_t op);
    void apply(std::int32_t op);
    void abandon();
    void finish(std::int32_t op);
    void open_gate(std::int32_t op);
    void check(int code);
    std::int32_t take_slot(std::int64_t elements);

    const RankGraph& graph_;
    const Memory& memory_;
    MPI_Comm comm_;
    MPI_Op op_ = MPI_OP_NULL;
    bool commutative_ = true;
    int first_tag_ = 0;

    std::vector<OpState> states_;
    std::vector<std::int32_t> ready_[2];  // receives, sends; in the order in which they became ready
    std::size_t next_ready_[2] = {0, 0};
    std::size_t next_early_ = 0;
    std::vector<std::int32_t> finished_;  // work list of finish()

    std::vector<MPI_Request> requests_;  // under way; op_of_request_ runs parallel
    std::vector<std::int32_t> op_of_request_;
    std::vector<int> completed_;
    std::vector<MPI_Status> statuses_;
    std::int32_t in_flight_[2] = {0, 0};
    std::int32_t limit_ = 0;
    std::int32_t left_ = 0;
    bool advanced_ = false;
    int error_ = MPI_SUCCESS;

    std::deque<Region> slots_;
    std::vector<std::int32_t> free_slots_;
    std::vector<Segment> segments_;
};

}  // namespace hocket::runtime
