// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <optional>
#include <string_view>

#include "runtime/memory.hpp"

namespace hocket::runtime {

/// Every collective of MPI that has a blocking and a non-blocking function with one name. Those before `allgatherv` are
/// in the order of Collective.
enum class NativeCollective {
    bcast,
    reduce,
    allreduce,
    allgather,
    alltoall,
    reduce_scatter_block,
    scatter,
    gather,
    barrier,
    allgatherv,
    alltoallv,
    alltoallw,
    gatherv,
    scatterv,
    reduce_scatter,
    scan,
    exscan,
};

std::optional<NativeCollective> native_collective_from(std::string_view name);
bool combines(NativeCollective collective);
/// Whether the blocks of the ranks differ, so that BlockArguments describe them.
bool has_blocks(NativeCollective collective);

/// What MPI's functions for blocks of different sizes take, for each rank; null what the function does not have.
struct BlockArguments {
    const int *send_counts = nullptr, *send_displacements = nullptr;
    const int *recv_counts = nullptr, *recv_displacements = nullptr;
    const MPI_Datatype *send_types = nullptr, *recv_types = nullptr;
};

/// The first array that the collective reads on this rank and that is null, by its name in hocket.h; null if none is.
const char* missing_of(NativeCollective collective, const BlockArguments& blocks, bool in_place, bool is_root);

/// The MPI's own functions. Return an MPI error code.
int call_native(NativeCollective collective, const Arguments& arguments, const BlockArguments& blocks, int root,
                MPI_Comm comm);
int start_native(NativeCollective collective, const Arguments& arguments, const BlockArguments& blocks, int root,
                 MPI_Comm comm, MPI_Request* request);

}  // namespace hocket::runtime
