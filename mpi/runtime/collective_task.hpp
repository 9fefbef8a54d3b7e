// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "runtime/held_arguments.hpp"
#include "runtime/operation.hpp"
#include "runtime/task.hpp"

namespace hocket::runtime {

/// A collective call for an engine, on buffers that it is bound to.
class CollectiveTask : public Task {
public:
    /// Binds it to buffers. Not while it is pending. Returns an MPI error code.
    int bind(const Arguments& arguments, const BlockArguments& blocks = {}, int num_ranks = 0) {
        held_.release();
        return held_.hold(arguments, blocks, num_ranks);
    }
    /// Keeps nothing of them.
    void unbind() { held_.release(); }
    [[nodiscard]] const Arguments& arguments() const { return held_.get(); }
    /// Before each start, in the order in which all ranks make their calls; `call` as of Operation::execute.
    virtual void arm(std::uint64_t call) = 0;
    /// Of the last call, once it is done: MPI_SUCCESS or the first error.
    [[nodiscard]] int error() const { return error_; }

protected:
    HeldArguments held_;
    int error_ = MPI_SUCCESS;
};

/// By a schedule.
std::unique_ptr<CollectiveTask> make_schedule_task(const Role& role, std::shared_ptr<const RankGraph> graph,
                                                   MPI_Comm private_comm);
/// By the MPI's own function: the non-blocking one, or the blocking one in an engine that makes one call after another.
/// MPI matches such calls by their order, so that all on a communicator must go through one engine.
std::unique_ptr<CollectiveTask> make_native_task(NativeCollective collective, int root, MPI_Comm private_comm);

}  // namespace hocket::runtime
