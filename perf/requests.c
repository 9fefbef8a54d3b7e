/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Allreduces without waiting, beside the MPI's own: arguments: bytes of each, how many in flight, engine, algorithm,
 * loops, calls in a loop. The ways take turns, loop by loop. Prints "way median-ns-of-all-in-flight" for each; all
 * results are checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hocket.h"

enum { max_in_flight = 64, max_ways = 9, max_loops = 1000 };

static int in_flight, count, rank, size;
static double *from, *to;
static hocket_communicator* communicator;
static hocket_operation* operation;
static hocket_engine* engine;
static hocket_request* persistent[max_in_flight];
static MPI_Request requests[max_in_flight];
#if MPI_VERSION >= 4
static MPI_Request native_persistent[max_in_flight];
#endif

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void must(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, hocket_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double* input(int i) { return from + (size_t)i * (size_t)count; }
static double* output(int i) { return to + (size_t)i * (size_t)count; }

static hocket_operation_arguments arguments(int i) {
    const hocket_operation_arguments with = {sizeof with, input(i), count,      MPI_DOUBLE,
                                             output(i),   count,    MPI_DOUBLE, MPI_SUM};
    return with;
}

/* All that are in flight, once. */
static void native_in_order(void) {
    for (int i = 0; i < in_flight; ++i) MPI_Allreduce(input(i), output(i), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void native_at_once(void) {
    for (int i = 0; i < in_flight; ++i)
        MPI_Iallreduce(input(i), output(i), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
}
#if MPI_VERSION >= 4
static void native_restarted(void) {
    MPI_Startall(in_flight, native_persistent);
    MPI_Waitall(in_flight, native_persistent, MPI_STATUSES_IGNORE);
}
#endif
static void native_fused(void) { MPI_Allreduce(from, to, in_flight * count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
/* What no allreduce of two ranks can be faster than; with more ranks one of its steps. */
static void exchange(void) {
    const int peer = rank ^ 1;
    if (peer < size) {
        for (int i = 0; i < in_flight; ++i) {
            MPI_Request both[2];
            MPI_Irecv(output(i), count, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &both[0]);
            MPI_Isend(input(i), count, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        }
    }
}
static void ours_in_order(void) {
    for (int i = 0; i < in_flight; ++i) {
        const hocket_operation_arguments with = arguments(i);
        must(hocket_operation_execute(operation, &with) == HOCKET_OK, "execute");
    }
}
static void ours_at_once(void) {
    hocket_request* all[max_in_flight];
    for (int i = 0; i < in_flight; ++i) {
        const hocket_operation_arguments with = arguments(i);
        must(hocket_operation_start(operation, &with, engine, &all[i]) == HOCKET_OK, "start");
    }
    must(hocket_request_wait_all(in_flight, all) == HOCKET_OK, "wait_all");
    for (int i = 0; i < in_flight; ++i) hocket_request_free(all[i]);
}
static void ours_restarted(void) {
    if (in_flight == 1) {
        must(hocket_request_start(persistent[0]) == HOCKET_OK, "start");
        must(hocket_request_wait(persistent[0]) == HOCKET_OK, "wait");
        return;
    }
    must(hocket_request_start_all(in_flight, persistent) == HOCKET_OK, "start_all");
    must(hocket_request_wait_all(in_flight, persistent) == HOCKET_OK, "wait_all");
}

static const struct {
    const char* name;
    void (*run)(void);
} ways[] = {
    {"native-in-order", native_in_order},
    {"native-at-once", native_at_once},
    {"native-fused", native_fused},
    {"exchange", exchange},
    {"in-order", ours_in_order},
    {"at-once", ours_at_once},
    {"restarted", ours_restarted},
#if MPI_VERSION >= 4
    {"native-restarted", native_restarted},
#endif
};
enum { num_ways = sizeof ways / sizeof ways[0] };

int main(int argc, char** argv) {
    if (argc != 7) return 2;
    const int bytes = atoi(argv[1]), loops = atoi(argv[5]), calls = atoi(argv[6]);
    in_flight = atoi(argv[2]);
    count = bytes / 8;
    if (count < 1 || in_flight < 1 || in_flight > max_in_flight || loops < 1 || loops > max_loops || calls < 1)
        return 2;
    const int wanted = strcmp(argv[3], "function") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    int level;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    from = malloc((size_t)bytes * (size_t)in_flight);
    to = malloc((size_t)bytes * (size_t)in_flight);
    const hocket_engine_parameters how = {sizeof how, argv[3], HOCKET_CORE_ANY, 0};
    const hocket_schedule_parameters what = {sizeof what, "allreduce", argv[4], 0, 1, NULL};
    must(hocket_communicator_create(MPI_COMM_WORLD, &communicator) == HOCKET_OK, "communicator");
    must(hocket_operation_create(communicator, &what, &operation) == HOCKET_OK, "operation");
    must(hocket_engine_create(&how, &engine) == HOCKET_OK, "engine");
    for (int i = 0; i < in_flight; ++i) {
        const hocket_operation_arguments with = arguments(i);
        must(hocket_request_create(operation, &with, engine, &persistent[i]) == HOCKET_OK, "request");
#if MPI_VERSION >= 4
        MPI_Allreduce_init(input(i), output(i), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &native_persistent[i]);
#endif
    }
    static double times[max_ways][max_loops];
    for (int loop = -1; loop < loops; ++loop) {
        for (int way = 0; way < num_ways; ++way) {
            for (int i = 0; i < in_flight * count; ++i) from[i] = rank + i % 7, to[i] = -1;
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = now_s();
            for (int i = 0; i < calls; ++i) ways[way].run();
            if (loop >= 0) times[way][loop] = now_s() - begin;
            for (int i = 0; i < in_flight * count && ways[way].run != exchange; ++i)
                must(to[i] == size * (i % 7) + size * (size - 1) / 2, ways[way].name);
        }
    }
    for (int way = 0; way < num_ways; ++way) {
        qsort(times[way], (size_t)loops, sizeof(double), compare);
        if (rank == 0) printf("%s %.0f\n", ways[way].name, 1e9 * times[way][loops / 2] / calls);
    }
    for (int i = 0; i < in_flight; ++i) {
        hocket_request_free(persistent[i]);
#if MPI_VERSION >= 4
        MPI_Request_free(&native_persistent[i]);
#endif
    }
    hocket_engine_free(engine);
    hocket_operation_free(operation);
    hocket_communicator_free(communicator);
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
