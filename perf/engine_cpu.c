/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* What the thread of an engine costs while a request is pending that cannot move on, and while none is: rank 0 waits
 * for the last rank, which is late. Argument: engine. Prints "pending FRACTION idle FRACTION" of a core. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "hocket.h"

enum { seconds = 2 };

static void rest(double duration_s) {
    const struct timespec nap = {(time_t)duration_s, (long)(1e9 * (duration_s - (double)(time_t)duration_s))};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hocket_communicator* communicator;
    hocket_operation* barrier;
    hocket_engine* engine;
    hocket_request* request;
    const hocket_engine_parameters how = {sizeof how, argc > 1 ? argv[1] : "thread", HOCKET_CORE_ANY, 0};
    const hocket_schedule_parameters what = {sizeof what, "allreduce", "recursive_doubling", 0, 1, NULL};
    double in = 1, out = 0, before = 0, after = 0;
    const hocket_operation_arguments with = {sizeof with, &in,  1,    MPI_DOUBLE, &out, 1,    MPI_DOUBLE,
                                             MPI_SUM,     NULL, NULL, NULL,       NULL, NULL, NULL};
    if (hocket_communicator_create(MPI_COMM_WORLD, &communicator) != HOCKET_OK ||
        hocket_operation_create(communicator, &what, &barrier) != HOCKET_OK ||
        hocket_engine_create(&how, &engine) != HOCKET_OK) {
        fprintf(stderr, "%s\n", hocket_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) rest(seconds + 0.2);
    hocket_operation_start(barrier, &with, engine, &request);
    hocket_engine_get_cpu(engine, &before);
    if (rank == 0) rest(seconds);
    hocket_engine_get_cpu(engine, &after);
    hocket_request_wait(request);
    hocket_request_free(request);
    if (rank == 0) printf("pending %.4f ", (after - before) / seconds);
    hocket_engine_get_cpu(engine, &before);
    rest(seconds);
    hocket_engine_get_cpu(engine, &after);
    if (rank == 0) printf("idle %.4f\n", (after - before) / seconds);
    hocket_engine_free(engine);
    hocket_operation_free(barrier);
    hocket_communicator_free(communicator);
    MPI_Finalize();
    return 0;
}
