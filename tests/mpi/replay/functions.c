// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* Calls that move known numbers of bytes on 4 ranks, a part at a time: tests/mpi/test_replay_functions.py holds how
 * many messages must carry how many bytes. All ranks do the same unless noted otherwise. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 5 has these calls, though it calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#else
#define HAS_MPI_4 0
#endif

enum { ROOM = 100000 };
static char in[ROOM], out[ROOM];
static int rank, size, next, last;
static const MPI_Comm world = MPI_COMM_WORLD;

static void neighbours(void) {
    int dims[2] = {2, 2}, periods[2] = {1, 0};
    MPI_Comm grid, graph, both;
    MPI_Request request;
    /* Two neighbours along the periodic dimension (one process, twice), one along the other. */
    MPI_Cart_create(world, 2, dims, periods, 0, &grid);
    MPI_Neighbor_allgather(out, 1000, MPI_CHAR, in, 1000, MPI_CHAR, grid);
    MPI_Neighbor_alltoall(out, 2000, MPI_CHAR, in, 2000, MPI_CHAR, grid);
    /* A directed ring. */
    MPI_Dist_graph_create_adjacent(world, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoall(out, 4000, MPI_CHAR, in, 4000, MPI_CHAR, graph);
    int sent = 10 * (rank + 1), received = 10 * (last + 1), zero = 0;
    MPI_Neighbor_alltoallv(out, &sent, &zero, MPI_CHAR, in, &received, &zero, MPI_CHAR, graph);
    MPI_Neighbor_allgatherv(out, sent, MPI_CHAR, in, &received, &zero, MPI_CHAR, graph);
    MPI_Aint at = 0;
    MPI_Datatype type = MPI_SHORT;
    MPI_Neighbor_alltoallw(out, &sent, &at, &type, in, &received, &at, &type, graph);
    MPI_Comm_dup(graph, &both);
    MPI_Ineighbor_alltoall(out, 8000, MPI_CHAR, in, 8000, MPI_CHAR, both, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* An undirected ring, as a graph. */
    int index[4] = {2, 4, 6, 8}, edges[8] = {3, 1, 0, 2, 1, 3, 2, 0};
    MPI_Comm old;
    MPI_Graph_create(world, 4, index, edges, 0, &old);
    MPI_Neighbor_allgather(out, 16, MPI_CHAR, in, 16, MPI_CHAR, old);
    MPI_Comm_free(&old);
    MPI_Comm_free(&both);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&grid);
}

static void windows(void) {
    MPI_Win window;
    MPI_Request request;
    char* memory = malloc(ROOM);
    memset(memory, 0, ROOM);
    MPI_Win_create(memory, ROOM, 1, MPI_INFO_NULL, world, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 1000, MPI_CHAR, next, 0, 1000, MPI_CHAR, window);
    MPI_Get(in, 2000, MPI_CHAR, last, 4000, 2000, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(out, 4000, MPI_CHAR, next, 8000, 4000, MPI_CHAR, MPI_REPLACE, window);
    MPI_Win_fence(0, window);

    /* Each rank's memory is for the last one; it writes to the next. */
    MPI_Group all, to, from;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &last, &from);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(out, 8000, MPI_CHAR, next, 20000, 8000, MPI_CHAR, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(out, 8000, MPI_CHAR, next, 20000, 8000, MPI_CHAR, window);
    MPI_Win_complete(window);
    for (int done = 0; !done;) MPI_Win_test(window, &done);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);

    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
    MPI_Put(out, 16000, MPI_CHAR, next, 40000, 16000, MPI_CHAR, window);
    MPI_Win_flush(next, window);
    MPI_Put(out, 100, MPI_CHAR, next, 60000, 100, MPI_CHAR, window);
    MPI_Win_unlock(next, window);
    MPI_Win_lock_all(0, window);
    MPI_Rput(out, 200, MPI_CHAR, next, 61000, 200, MPI_CHAR, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget(in, 300, MPI_CHAR, last, 62000, 300, MPI_CHAR, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_local_all(window);
    int one = 1, before, compared = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT, next, 64000, MPI_SUM, window);
    MPI_Win_flush_all(window);
    MPI_Compare_and_swap(&one, &compared, &before, MPI_INT, next, 64004, window);
    MPI_Win_flush_local(next, window);
    MPI_Get_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, next, 64008, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(memory);
}

static void groups(void) {
    MPI_Comm half, between;
    const int mine = rank % 2, root = rank == 0 ? MPI_ROOT : mine == 0 ? MPI_PROC_NULL : 0;
    int counts[2] = {100, 200}, starts[2] = {0, 100};
    MPI_Comm_split(world, mine, rank, &half);
    MPI_Intercomm_create(half, 0, world, 1 - mine, 1, &between);
    MPI_Bcast(out, 1000, MPI_CHAR, root, between);
    MPI_Reduce(out, in, 2000, MPI_CHAR, MPI_MAX, root, between);
    MPI_Allreduce(out, in, 4000, MPI_CHAR, MPI_MAX, between);
    MPI_Allgather(out, 10 * (mine + 1), MPI_CHAR, in, 10 * (2 - mine), MPI_CHAR, between);
    MPI_Alltoall(out, 50, MPI_CHAR, in, 50, MPI_CHAR, between);
    MPI_Gather(out, 70, MPI_CHAR, in, 70, MPI_CHAR, root, between);
    MPI_Scatter(out, 80, MPI_CHAR, in, 80, MPI_CHAR, root, between);
    MPI_Gatherv(out, counts[rank / 2], MPI_CHAR, in, counts, starts, MPI_CHAR, root, between);
    MPI_Scatterv(out, counts, starts, MPI_CHAR, in, counts[rank / 2], MPI_CHAR, root, between);
    MPI_Allgatherv(out, counts[rank / 2], MPI_CHAR, in, counts, starts, MPI_CHAR, between);
    MPI_Barrier(between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void vectors(void) {
    int counts[4] = {10, 20, 30, 40}, starts[4] = {0, 10, 30, 60};
    MPI_Scan(out, in, 1000, MPI_CHAR, MPI_MAX, world);
    MPI_Exscan(out, in, 1000, MPI_CHAR, MPI_MAX, world);
    MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_MAX, world);
    MPI_Gatherv(out, counts[rank], MPI_CHAR, in, counts, starts, MPI_CHAR, 1, world);
    MPI_Scatterv(out, counts, starts, MPI_CHAR, in, counts[rank], MPI_CHAR, 2, world);
    int sent[4], at[4];
    for (int i = 0; i < 4; ++i) sent[i] = 100 * (1 + (rank + i) % 3), at[i] = 1000 * i;
    MPI_Alltoallv(out, sent, at, MPI_CHAR, in, sent, at, MPI_CHAR, world);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_CHAR, in, sent, at, MPI_CHAR, world);
}

static void messages(void) {
    MPI_Status status;
    MPI_Message message;
    MPI_Request request, requests[2];
    int flag = 0, index, indices[2], done;
    MPI_Sendrecv_replace(in, 1000, MPI_CHAR, next, 1, last, 1, world, &status);
    MPI_Send(out, 2000, MPI_CHAR, next, 2, world);
    MPI_Mprobe(MPI_ANY_SOURCE, 2, world, &message, &status);
    MPI_Mrecv(in, ROOM, MPI_CHAR, &message, &status);
    MPI_Isend(out, 4000, MPI_CHAR, next, 3, world, &request);
    while (!flag) MPI_Improbe(last, MPI_ANY_TAG, world, &flag, &message, &status);
    MPI_Imrecv(in, ROOM, MPI_CHAR, &message, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* A persistent receive from whoever sends, twice, completed in other ways than all at once. */
    MPI_Send_init(out, 8000, MPI_CHAR, next, 4, world, &requests[0]);
    MPI_Recv_init(in, ROOM, MPI_CHAR, MPI_ANY_SOURCE, 4, world, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitany(2, requests, &index, &status);
        if (i == 0)
            for (done = 0; !done;) MPI_Testany(2, requests, &index, &done, &status);
        else
            MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

#if HAS_MPI_4
static void new_calls(void) {
    MPI_Request request, requests[2];
    int flag = 0, ready[2] = {0, 3};
    /* Not from anyone: MPICH does not report who it was. */
    MPI_Isendrecv(out, 1000, MPI_CHAR, next, 1, in, 1000, MPI_CHAR, last, 1, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(out, 2000, MPI_CHAR, next, 2, last, 2, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Psend_init(out, 4, 1000, MPI_CHAR, next, 3, world, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 4, 1000, MPI_CHAR, last, 3, world, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, requests);
        MPI_Pready_range(1, 1, requests[0]);
        MPI_Pready_list(2, ready, requests[0]);
        MPI_Pready(2, requests[0]);
        if (i == 0)
            while (!flag) MPI_Parrived(requests[1], 0, &flag);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Bcast_init(out, 500, MPI_CHAR, 0, world, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
#endif

int main(int argc, char** argv) {
    const char* part = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    if (size != 4) MPI_Abort(world, 1);
    next = (rank + 1) % 4;
    last = (rank + 3) % 4;
    if (!strcmp(part, "neighbours")) neighbours();
    if (!strcmp(part, "windows")) windows();
    if (!strcmp(part, "groups")) groups();
    if (!strcmp(part, "vectors")) vectors();
    if (!strcmp(part, "messages")) messages();
#if HAS_MPI_4
    if (!strcmp(part, "new_calls")) new_calls();
#endif
    MPI_Finalize();
    return 0;
}
