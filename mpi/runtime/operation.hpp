// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include "hocket/schedule/schedule.hpp"
#include "runtime/executor.hpp"
#include "runtime/memory.hpp"
#include "runtime/rank_graph.hpp"

namespace hocket::runtime {

/// A communicator with the members of `parent` that carries only messages of schedules and returns errors. Collective. Attributes,
/// topology and error handler of `parent` are not copied, so that no code of the user runs.
int duplicate(MPI_Comm parent, MPI_Comm* own);

/// A schedule ready to be executed on a communicator, any number of times, with any buffers. Keeps its temporaries.
class Operation {
public:
    Operation(const Role& role, RankSchedule schedule, MPI_Comm own);
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Collective over the communicator. Returns an MPI error code.
    int execute(const Arguments& arguments);

    [[nodiscard]] const Role& role() const { return role_; }

private:
    Role role_;
    RankGraph graph_;
    Memory memory_;
    MPI_Comm comm_;
    Executor executor_;
};

}  // namespace hocket::runtime
