// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* 4 threads a rank, each with a communicator of its own: 500 messages around the ring and an allreduce each. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, MESSAGES = 500 };
static int rank, size;

static void* work(void* argument) {
    const MPI_Comm comm = *(MPI_Comm*)argument;
    int token = rank, sum;
    for (int i = 0; i < MESSAGES; ++i) {
        MPI_Request requests[2];
        int other;
        MPI_Irecv(&other, 1, MPI_INT, (rank + size - 1) % size, 0, comm, &requests[0]);
        MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 0, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        token = other;
    }
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 9);
    return NULL;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE) {
        printf("no threads\n");
    } else {
        pthread_t threads[THREADS];
        MPI_Comm comms[THREADS];
        for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &comms[i]);
        for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    }
    MPI_Finalize();
    return 0;
}
