/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The calls of solvers, without their work: `halo KIND STEPS`. "halo": four neighbours by Irecv, Isend and Waitall, and
 * an allreduce every tenth step. "sweep": a wavefront by Recv, Wait and Isend of one line each, as LU does. "vectors":
 * an alltoallv, whose sizes change every hundredth step. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, MOST = 1024 };

int main(int argc, char** argv) {
    static double out[4][LINE], in[4][LINE], all[2][MOST * 8];
    static int counts[MOST], places[MOST];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int before = (rank + size - 1) % size, after = (rank + 1) % size, steps = atoi(argv[2]);
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[8];
        if (strcmp(argv[1], "halo") == 0) {
            for (int i = 0; i < 4; ++i)
                MPI_Irecv(in[i], LINE, MPI_DOUBLE, i % 2 ? before : after, i, MPI_COMM_WORLD, &requests[i]);
            for (int i = 0; i < 4; ++i)
                MPI_Isend(out[i], LINE, MPI_DOUBLE, i % 2 ? after : before, i, MPI_COMM_WORLD, &requests[4 + i]);
            MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
            if (step % 10 == 0) MPI_Allreduce(MPI_IN_PLACE, all[0], 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else if (strcmp(argv[1], "sweep") == 0) {
            if (rank > 0) MPI_Recv(in[0], 5, MPI_DOUBLE, before, step % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank < size - 1) {
                MPI_Isend(out[0], 5, MPI_DOUBLE, after, step % 2, MPI_COMM_WORLD, &requests[0]);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            }
        } else {
            for (int i = 0; i < size; ++i) {
                counts[i] = 1 + (step / 100 + i + rank) % 7;
                places[i] = 8 * i;
            }
            int received[MOST];
            for (int i = 0; i < size; ++i) received[i] = 1 + (step / 100 + rank + i) % 7;
            MPI_Alltoallv(all[0], counts, places, MPI_DOUBLE, all[1], received, places, MPI_DOUBLE, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
