// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* A known sequence of calls on 4 ranks; tests/mpi/test_record.py holds what must be recorded of each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void first(void* in, void* inout, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; ++i) ((int*)inout)[i] = ((int*)in)[i];
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4) MPI_Abort(MPI_COMM_WORLD, 1);
    double a[400] = {0}, b[400] = {0};
    int m[64] = {0}, k[64] = {0};
    const MPI_Comm world = MPI_COMM_WORLD;

    MPI_Bcast(a, 100, MPI_DOUBLE, 1, world);
    MPI_Reduce(m, k, 10, MPI_INT, MPI_MAX, 2, world);
    MPI_Allreduce(MPI_IN_PLACE, a, 7, MPI_DOUBLE, MPI_SUM, world);
    MPI_Op op;
    MPI_Op_create(first, 0, &op);
    MPI_Allreduce(m, k, 3, MPI_INT, op, world);
    MPI_Op_free(&op);
    MPI_Scan(m, k, 4, MPI_INT, MPI_SUM, world);
    MPI_Exscan(m, k, 5, MPI_INT, MPI_SUM, world);
    MPI_Gather(m, 3, MPI_INT, k, 3, MPI_INT, 0, world);
    MPI_Gather(rank == 3 ? MPI_IN_PLACE : m, 2, MPI_INT, k, 2, MPI_INT, 3, world);
    MPI_Scatter(a, 5, MPI_DOUBLE, rank == 1 ? MPI_IN_PLACE : b, 5, MPI_DOUBLE, 1, world);
    MPI_Allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, world);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_DOUBLE, world);
    MPI_Alltoall(a, 6, MPI_CHAR, b, 6, MPI_CHAR, world);
    MPI_Reduce_scatter_block(m, k, 4, MPI_INT, MPI_SUM, world);
    MPI_Barrier(world);

    /* v-variants: rank i contributes i+1 ints; from i to j go i+j+1. */
    int up[4], up_at[4], pair[4], pair_at[4], pair_bytes_at[4];
    MPI_Datatype shorts[4];
    for (int i = 0; i < 4; ++i) {
        up[i] = i + 1;
        up_at[i] = 4 * i;
        pair[i] = rank + i + 1;
        pair_at[i] = 8 * i;
        pair_bytes_at[i] = 16 * i;
        shorts[i] = MPI_SHORT;
    }
    MPI_Gatherv(m, rank + 1, MPI_INT, k, up, up_at, MPI_INT, 0, world);
    MPI_Scatterv(m, up, up_at, MPI_INT, k, rank + 1, MPI_INT, 1, world);
    MPI_Allgatherv(m, rank + 1, MPI_INT, k, up, up_at, MPI_INT, world);
    MPI_Alltoallv(m, pair, pair_at, MPI_INT, k, pair, pair_at, MPI_INT, world);
    MPI_Alltoallw(m, pair, pair_bytes_at, shorts, k, pair, pair_bytes_at, shorts, world);
    MPI_Reduce_scatter(m, k, up, MPI_INT, MPI_SUM, world);

    MPI_Datatype vector;
    MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Bcast(m, 2, vector, 0, world);
    MPI_Type_free(&vector);

    /* Sub-communicators: {2, 0} and {3, 1}, a duplicate of each. */
    MPI_Comm half, copy, none;
    MPI_Comm_split(world, rank % 2, -rank, &half);
    MPI_Allreduce(m, k, 8, MPI_INT, MPI_SUM, half);
    MPI_Comm_dup(half, &copy);
    MPI_Bcast(m, 9, MPI_INT, 1, copy);
    MPI_Comm_split(world, rank == 3 ? MPI_UNDEFINED : 0, 0, &none);
    if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
    MPI_Comm_free(&copy);

    /* Requests. */
    MPI_Request request[2];
    MPI_Status status;
    int index;
    const int next = (rank + 1) % 4, before = (rank + 3) % 4;
    MPI_Iallreduce(m, k, 11, MPI_INT, MPI_SUM, world, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Ibcast(m, 12, MPI_INT, 3, world, &request[0]);
    MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    MPI_Isend(a, 5, MPI_DOUBLE, next, 7, world, &request[0]);
    MPI_Irecv(b, 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Send_init(a, 6, MPI_DOUBLE, next, 8, world, &request[0]);
    MPI_Recv_init(b, 10, MPI_DOUBLE, before, 8, world, &request[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);

    /* Blocking point to point. */
    MPI_Sendrecv(a, 3, MPI_DOUBLE, next, 1, b, 30, MPI_DOUBLE, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
    if (rank == 0) {
        MPI_Send(a, 4, MPI_DOUBLE, 1, 2, world);
        MPI_Ssend(a, 1, MPI_DOUBLE, MPI_PROC_NULL, 2, world);
    } else if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, 2, world, &status);
        MPI_Recv(b, 40, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    }

    /* Inter-communicator of the halves; group of even ranks first. */
    MPI_Comm inter, merged, grid, row;
    MPI_Intercomm_create(half, 0, world, rank % 2 ? 2 : 3, 4, &inter);
    MPI_Bcast(m, 13, MPI_INT, rank == 2 ? MPI_ROOT : rank == 0 ? MPI_PROC_NULL : 0, inter);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    MPI_Barrier(merged);
    int sides[2] = {2, 2}, wrap[2] = {0, 0}, keep[2] = {0, 1};
    MPI_Cart_create(world, 2, sides, wrap, 0, &grid);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Allgather(m, 1, MPI_INT, k, 1, MPI_INT, row);
    MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
}
