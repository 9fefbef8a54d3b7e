// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "hocket/schedule/schedule.hpp"
#include "runtime/executor.hpp"
#include "runtime/in_order.hpp"
#include "runtime/memory.hpp"
#include "runtime/rank_graph.hpp"

namespace hocket::runtime {

/// A communicator with the members of `parent` that carries only messages of schedules and returns errors. Collective.
/// Attributes, topology and error handler of `parent` are not copied, so that no code of the user runs.
int duplicate(MPI_Comm parent, MPI_Comm* private_comm);

/// Frees what duplicate() made. Collective. Takes the messages that a failed call has left, since MPICH 5 refuses to
/// free a communicator that has any.
int release(MPI_Comm* private_comm);

/// Whether the operator may combine in any order.
bool is_commutative(MPI_Op op);
/// Whether it is one of MPI's own. An operator of the program's runs in the thread that makes the collective move on.
bool is_predefined(MPI_Op op);

/// How many calls in a row have tags of their own (MPI_TAG_UB; at least 8 with what MPI guarantees).
std::uint64_t num_call_tags();

/// A schedule ready to be executed on a communicator, any number of times, with any buffers, but once at a time. Keeps
/// its temporaries.
class Operation {
public:
    Operation(const Role& role, std::shared_ptr<const RankGraph> graph, MPI_Comm private_comm);
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Collective over the communicator; `call` is its number there, alike on all ranks, so that messages that a failed
    /// call has left behind are not taken for those of this one. Returns an MPI error code: an error does not end the
    /// schedule, because the other ranks wait for its messages. @throws std::bad_alloc  the messages of this rank are
    /// withdrawn, later calls are not touched
    int execute(const Arguments& arguments, std::uint64_t call);

    /// The same without waiting: begin(), then advance() until it returns true, then end(). After an exception of
    /// begin() or advance() the call has ended.
    void begin(const Arguments& arguments, std::uint64_t call);
    /// True when all messages have ended. `at_all` as of Executor::progress.
    bool advance(bool at_all);
    /// Whether the last advance() got further.
    [[nodiscard]] bool advanced() const { return in_order_serves_ ? in_order_.advanced() : executor_.advanced(); }
    /// Posts all that is ready: for when nothing moves for long.
    void lift_limits() { executor_.lift_limits(); }
    /// Between two calls of advance() that are far apart: the error handler of MPI_COMM_WORLD is the program's.
    void leave_errors() { errors_.reset(); }
    /// Hands over the result. Returns what execute() does.
    int end();

    [[nodiscard]] const Role& role() const { return role_; }

private:
    void abandon() noexcept;

    Role role_;
    std::shared_ptr<const RankGraph> graph_;
    Memory memory_;
    MPI_Comm comm_;
    InOrder in_order_;
    Executor executor_;
    bool in_order_serves_ = false;
    Arguments arguments_;
    int opened_ = MPI_SUCCESS;
    std::optional<ReturnedErrors> errors_;
};

}  // namespace hocket::runtime
