// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

// Fortran bindings reach MPI by PMPI_X as well as by MPI_X, so this library defines both and finds the MPI's own function
// behind it in the search order. The tables below say which functions. What is in HOCKET_IF_LARGE is there where the MPI has
// functions of large counts, in HOCKET_IF_PERSISTENT where it has persistent collectives (Open MPI 5 has them ahead of the rest of MPI 4).
#if MPI_VERSION >= 4
#define HOCKET_IF_LARGE(text) text
#else
#define HOCKET_IF_LARGE(text)
#endif
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HOCKET_IF_PERSISTENT(text) text
#else
#define HOCKET_IF_PERSISTENT(text)
#endif

#define HOCKET_FOR_EACH_COLLECTIVE(X) \
    X(Bcast) X(Reduce) X(Allreduce) X(Allgather) X(Alltoall) X(Reduce_scatter_block) X(Scatter) X(Gather)

// Non-blocking and persistent collectives: name, name of the persistent one, number of parameters of the first, and where its
// parameters say how large a message is (sizes.hpp).
#define HOCKET_FOR_EACH_NONBLOCKING(Y, X)                                       \
    Y(X, Ibcast, Bcast_init, 6, (Block<1, 2>))                                  \
    Y(X, Ireduce, Reduce_init, 8, (Combined<2, 3>))                             \
    Y(X, Iallreduce, Allreduce_init, 7, (Combined<2, 3>))                       \
    Y(X, Ireduce_scatter, Reduce_scatter_init, 7, (CombinedBlocks<2, 3>))       \
    Y(X, Ireduce_scatter_block, Reduce_scatter_block_init, 7, (Combined<2, 3>)) \
    Y(X, Iscan, Scan_init, 7, (Combined<2, 3>))                                 \
    Y(X, Iexscan, Exscan_init, 7, (Combined<2, 3>))                             \
    Y(X, Iallgather, Allgather_init, 8, (Block<4, 5>))                          \
    Y(X, Iallgatherv, Allgatherv_init, 9, (OwnBlock<0, 1, 2>))                  \
    Y(X, Ialltoall, Alltoall_init, 8, (Block<4, 5>))                            \
    Y(X, Ialltoallv, Alltoallv_init, 10, (Blocks<5, 7>))                        \
    Y(X, Ialltoallw, Alltoallw_init, 10, (Blocks<5, 7>))                        \
    Y(X, Igather, Gather_init, 9, (OwnBlock<0, 1, 2>))                          \
    Y(X, Igatherv, Gatherv_init, 10, (OwnBlock<0, 1, 2>))                       \
    Y(X, Iscatter, Scatter_init, 9, (OwnBlock<3, 4, 5>))                        \
    Y(X, Iscatterv, Scatterv_init, 10, (OwnBlock<4, 5, 6>))                     \
    Y(X, Ineighbor_allgather, Neighbor_allgather_init, 8, (Block<1, 2>))        \
    Y(X, Ineighbor_allgatherv, Neighbor_allgatherv_init, 9, (Block<1, 2>))      \
    Y(X, Ineighbor_alltoall, Neighbor_alltoall_init, 8, (Block<1, 2>))          \
    Y(X, Ineighbor_alltoallv, Neighbor_alltoallv_init, 10, (NoBlock))           \
    Y(X, Ineighbor_alltoallw, Neighbor_alltoallw_init, 10, (NoBlock))

#define HOCKET_FOR_EACH_MESSAGE(X) X(Isend) X(Issend) X(Irsend) X(Irecv)

#define HOCKET_FOR_EACH_COMPLETION(X) \
    X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status)

// Name and number of parameters. The communicator that they make is the last one.
#define HOCKET_FOR_EACH_MAKER(X) \
    X(Comm_dup, 2)               \
    X(Comm_dup_with_info, 3)     \
    X(Comm_create, 3)            \
    X(Comm_create_group, 4)      \
    X(Comm_split, 4)             \
    X(Comm_split_type, 5)        \
    X(Intercomm_merge, 3)        \
    X(Cart_create, 6)            \
    X(Cart_sub, 3)               \
    X(Graph_create, 6)           \
    X(Dist_graph_create, 9)      \
    X(Dist_graph_create_adjacent, 10)

#define HOCKET_BOTH_COUNTS(X, name) X(name) HOCKET_IF_LARGE(X(name##_c))
#define HOCKET_NAMES_OF_NONBLOCKING(X, name, persistent, arity, size) \
    HOCKET_BOTH_COUNTS(X, name) HOCKET_IF_PERSISTENT(HOCKET_BOTH_COUNTS(X, persistent))

namespace hocket::interpose {

/// What is called when this library steps aside: the next library's functions (a tool's, or the MPI's own).
struct Next {
    Next();
#define HOCKET_MEMBER(name) decltype(&PMPI_##name) name;
#define HOCKET_MEMBERS(name) HOCKET_BOTH_COUNTS(HOCKET_MEMBER, name)
    HOCKET_FOR_EACH_COLLECTIVE(HOCKET_MEMBERS)
    HOCKET_FOR_EACH_MESSAGE(HOCKET_MEMBERS)
    HOCKET_FOR_EACH_NONBLOCKING(HOCKET_NAMES_OF_NONBLOCKING, HOCKET_MEMBER)
    HOCKET_FOR_EACH_COMPLETION(HOCKET_MEMBER)
#define HOCKET_FOR_EACH_OTHER(X)          \
    X(Barrier)                            \
    X(Ibarrier)                           \
    HOCKET_IF_PERSISTENT(X(Barrier_init)) \
    X(Start)                              \
    X(Startall) X(Request_free) X(Comm_free) X(Comm_disconnect) X(Init) X(Init_thread) X(Query_thread) X(Finalize)
    HOCKET_FOR_EACH_OTHER(HOCKET_MEMBER)
#define HOCKET_MAKER(name, arity) HOCKET_MEMBER(name)
    HOCKET_FOR_EACH_MAKER(HOCKET_MAKER)
#undef HOCKET_MAKER
#undef HOCKET_MEMBERS
#undef HOCKET_MEMBER
};

extern const Next next;

}  // namespace hocket::interpose
