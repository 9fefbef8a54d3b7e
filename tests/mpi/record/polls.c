/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Rank 0 polls in every way for what rank 1 sends only after rank 0 has asked for it. `polls FOREVER` polls until it is
 * killed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define REPEAT(n) for (int i = 0; i < (n); ++i)

static void spin(double seconds) {
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < seconds) {
    }
}

static void expect(int found) {
    if (!found) return;
    fprintf(stderr, "a poll found what was not sent\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void poll(MPI_Request* requests) {
    int flag = 0, index, rank, indices[2];
    MPI_Message message;
    REPEAT(10000) {
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        expect(flag);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    REPEAT(3000) { /* two ways in turns */
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        MPI_Iprobe(1, i % 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        expect(flag);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    REPEAT(200) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    REPEAT(300) MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    REPEAT(400) MPI_Testsome(2, requests, &flag, indices, MPI_STATUSES_IGNORE);
    REPEAT(500) MPI_Improbe(1, 9, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    REPEAT(600) MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    REPEAT(50) { /* with work between the polls */
        spin(1e-3);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    }
    REPEAT(3) { /* alone */
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Iprobe(1, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, flag, received[2] = {0, 0}, values[2] = {5, 6};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Request requests[2];
        REPEAT(2) MPI_Irecv(&received[i], 1, MPI_INT, 1, 7 + i, MPI_COMM_WORLD, &requests[i]);
        while (argc > 1) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        poll(requests);
        MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        printf("%d %d\n", received[0], received[1]);
    } else {
        MPI_Recv(&flag, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        REPEAT(2) MPI_Send(&values[i], 1, MPI_INT, 0, 7 + i, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
