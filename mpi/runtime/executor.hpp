// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/memory.hpp"
#include "runtime/rank_graph.hpp"
#include "runtime/returned_errors.hpp"

namespace hocket::runtime {

/// Executes the ops of one rank: each starts as soon as its dependencies allow, there are no rounds. Between start()
/// and the progress() that returns true the caller decides how to wait (see backoff.hpp). One execution at a time.
class Executor {
public:
    /// `comm` carries nothing but the messages of schedules. All three must outlive the executor.
    Executor(const RankGraph& graph, Memory& memory, MPI_Comm comm);

    /// Begins the collective on the buffers that `memory` has opened. Its messages have num_message_tags tags from
    /// `first_tag` on. `errors` is filled when the error handler of MPI_COMM_WORLD matters, and must live until
    /// progress() returns true.
    void start(MPI_Op op, bool commutative, int first_tag, std::optional<ReturnedErrors>& errors);
    /// Moves on what can be moved. True when all is done. Of the messages to or from a peer it looks at the oldest
    /// only, since that one mostly ends first; `at_all` looks at all and is for when nothing moves. What has ended out
    /// of turn once does so again: from then on it looks at all. An error does not end the schedule, since other ranks
    /// wait for what this one sends: a message that failed counts as done.
    bool progress(bool at_all);
    /// Ends the collective at once when something was thrown: withdraws its messages.
    void abandon() noexcept;
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

    void choose(bool at_all);
    bool test_chosen();
    void remove_completed();
    void post_ready();
    void post_early();
    void post(std::int32_t op);
    void started(std::int32_t op);
    void arrived(std::int32_t op);
    void combine(std::int32_t op);
    void apply(std::int32_t op);
    void finish(std::int32_t op);
    void open_gate(std::int32_t op);
    void check(int code);
    void catch_errors();
    void catch_errors_of_tests();
    std::int32_t take_slot(std::int64_t elements);

    const RankGraph& graph_;
    Memory& memory_;
    MPI_Comm comm_;
    MPI_Op op_ = MPI_OP_NULL;
    bool commutative_ = true;
    int first_tag_ = 0;

    std::vector<OpState> states_, first_states_;
    std::vector<std::int32_t> first_ready_[2];  // as they are when a call begins
    std::vector<std::int32_t> ready_[2];        // receives, sends; in the order in which they became ready
    std::size_t next_ready_[2] = {0, 0};
    std::size_t next_early_ = 0;
    std::vector<std::int32_t> finished_;  // work list of finish()

    /// Messages under way from or to one peer, in the order in which they were posted.
    struct Channel {
        std::vector<MPI_Request> requests;  // null = done
        std::vector<std::int32_t> ops;
        std::size_t oldest = 0;
        bool active = false;
    };
    struct Place {
        std::int32_t channel;
        std::size_t position;
    };
    Channel& channel(std::int32_t number) { return channels_[static_cast<std::size_t>(number)]; }
    std::vector<Channel> channels_;  // as RankGraph numbers them
    std::vector<std::int32_t> active_;
    std::vector<MPI_Request> chosen_;  // those to test; `places_` runs parallel
    std::vector<Place> places_;
    std::vector<int> completed_;
    std::vector<MPI_Status> statuses_;
    std::int32_t in_flight_[2] = {0, 0};
    std::int32_t limit_ = 0;
    std::int32_t left_ = 0;
    bool advanced_ = false;
    bool out_of_turn_ = false;  // a message ended before an older one of its channel
    int error_ = MPI_SUCCESS;
    std::optional<ReturnedErrors>* returned_errors_ = nullptr;
    MPI_Op tried_op_ = MPI_OP_NULL;  // that MPI_Reduce_local has taken for tried_type_, a named one
    MPI_Datatype tried_type_ = MPI_DATATYPE_NULL;

    std::vector<Region> slots_;
    std::vector<std::int32_t> free_slots_;
    std::vector<Segment> segments_;
};

}  // namespace hocket::runtime
