// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>

#include "hocket/schedule/schedule.hpp"
#include "runtime/executor.hpp"
#include "runtime/in_order.hpp"
#include "runtime/memory.hpp"
#include "runtime/rank_graph.hpp"

namespace hocket::runtime {

/// A communicator with the members of `parent` that carries only messages of schedules and returns errors. Collective. Attributes,
/// topology and error handler of `parent` are not copied, so that no code of the user runs.
int duplicate(MPI_Comm parent, MPI_Comm* own);

/// Frees what duplicate() made. Collective. Takes the messages that a failed call has left, since MPICH 5 refuses to free a
/// communicator that has any.
int release(MPI_Comm* own);

/// Whether the operator may combine in any order.
bool is_commutative(MPI_Op op);

/// How many calls in a row have tags of their own (MPI_TAG_UB; at least 8 with what MPI guarantees).
std::uint64_t num_call_tags();

/// A schedule ready to be executed on a communicator, any number of times, with any buffers. Keeps its temporaries.
class Operation {
public:
    Operation(const Role& role, RankSchedule schedule, MPI_Comm own);
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Collective over the communicator; `call` is its number there, alike on all ranks, so that messages that a failed call has left
    /// behind are not taken for those of this one. Returns an MPI error code: an error does not end the schedule, because the
    /// other ranks wait for its messages.
    /// @throws std::bad_alloc  the messages of this rank are withdrawn, later calls are not touched
    int execute(const Arguments& arguments, std::uint64_t call);

    [[nodiscard]] const Role& role() const { return role_; }

private:
    int execute_opened(MPI_Op op, int first_tag);

    Role role_;
    RankGraph graph_;
    Memory memory_;
    MPI_Comm comm_;
    InOrder in_order_;
    Executor executor_;
};

}  // namespace hocket::runtime
