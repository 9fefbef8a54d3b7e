// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

namespace hocket::interpose {

// Fortran bindings reach MPI by PMPI_X as well as by MPI_X, so this library defines both and finds the MPI's own function
// behind it in the search order.
#define HOCKET_FOR_EACH_COLLECTIVE(X) \
    X(Bcast) X(Reduce) X(Allreduce) X(Allgather) X(Alltoall) X(Reduce_scatter_block) X(Scatter) X(Gather)
#if MPI_VERSION >= 4
#define HOCKET_FOR_EACH_LARGE_COLLECTIVE(X) \
    X(Bcast_c)                              \
    X(Reduce_c) X(Allreduce_c) X(Allgather_c) X(Alltoall_c) X(Reduce_scatter_block_c) X(Scatter_c) X(Gather_c)
#else
#define HOCKET_FOR_EACH_LARGE_COLLECTIVE(X)
#endif
#define HOCKET_FOR_EACH_FUNCTION(X) \
    HOCKET_FOR_EACH_COLLECTIVE(X) HOCKET_FOR_EACH_LARGE_COLLECTIVE(X) X(Barrier) X(Init) X(Init_thread) X(Finalize)

/// What is called when this library steps aside: the next library's functions (a tool's, or the MPI's own).
struct Next {
    Next();
#define HOCKET_MEMBER(name) decltype(&PMPI_##name) name;
    HOCKET_FOR_EACH_FUNCTION(HOCKET_MEMBER)
#undef HOCKET_MEMBER
};

extern const Next next;

}  // namespace hocket::interpose
