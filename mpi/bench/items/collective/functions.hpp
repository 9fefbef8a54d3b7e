// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace hocket::bench {

/// Counts and places of the blocks of a buffer, by rank or neighbour, in elements.
struct Blocks {
    std::vector<int> counts, places;
    std::vector<MPI_Aint> far_places;  ///< the same places, for MPI_Neighbor_alltoallw
    std::vector<MPI_Datatype> types;
};

/// What collective functions are called with; each takes what it needs.
struct Arguments {
    void* send = nullptr;
    void* receive = nullptr;           ///< also the buffer of MPI_Bcast
    int count = 0, receive_count = 0;  ///< of functions whose blocks are equal: elements of one block
    Blocks sent, received;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op op = MPI_SUM;
    int root = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
};

/// What a collective does with the data.
enum class Movement {
    none,
    bcast,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce,
    allreduce,
    reduce_scatter,
    scan,
    exscan,
};

/// One collective of MPI's standard, in its three ways: each function returns MPI's error code.
struct Collective {
    const char* name;      ///< "bcast"
    const char* function;  ///< "Bcast"
    Movement movement;
    bool is_uneven;      ///< a count for each block
    bool has_neighbors;  ///< on a communicator with a topology
    int (*call)(Arguments&);
    int (*start)(Arguments&);
    int (*init)(Arguments&, void* function);  ///< of MPI-4: `function` is that of the library
};

std::span<const Collective> collectives();

}  // namespace hocket::bench
