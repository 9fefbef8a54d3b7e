/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* All ranks but the first take a ticket of a counter at rank 0, each time under an exclusive lock, and print it with
 * their rank: so the tickets tell in which order the locks were granted. */

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, *counter;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win window;
    MPI_Win_allocate(rank == 0 ? 64 : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        *counter = 0;
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const int one = 1;
    for (int i = 0; rank > 0 && i < 5; ++i) {
        int ticket = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&ticket, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        const int next = ticket + one;
        MPI_Put(&next, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
        printf("ticket %d %d\n", ticket, rank);
    }
    if (rank > 0) { /* nobody waits for these */
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
