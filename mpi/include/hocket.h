/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The run time of hocket: executes communication schedules on an MPI communicator.
 *
 *   hocket_communicator *world;
 *   hocket_operation *bcast;
 *   hocket_communicator_create(MPI_COMM_WORLD, &world);
 *   hocket_schedule_parameters what = {sizeof what, "bcast", "pipelined_chain", 0, 64, NULL};
 *   hocket_operation_create(world, &what, &bcast);
 *   hocket_operation_arguments with = {.struct_size = sizeof with, .recv_buffer = data, .recv_count = n,
 *                                      .recv_type = MPI_DOUBLE};
 *   hocket_operation_execute(bcast, &with);
 *
 * Functions return HOCKET_OK or a negative status; hocket_last_error() has more. Nothing is printed and nothing aborts,
 * except that MPI itself may call the error handler of the communicator given to hocket_communicator_create.
 * Without waiting, and many at once:
 *
 *   hocket_engine *engine;
 *   hocket_engine_parameters how = {sizeof how, "thread", HOCKET_CORE_ANY, 0};
 *   hocket_request *request;
 *   hocket_engine_create(&how, &engine);
 *   hocket_operation_start(bcast, &with, engine, &request);
 *   compute();
 *   hocket_request_wait(request);
 *   hocket_request_free(request);
 *
 * Handles may be used by one thread at a time; different requests of one engine by different threads. All handles must
 * be freed before MPI_Finalize. */
#ifndef HOCKET_H
#define HOCKET_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOCKET_API __attribute__((visibility("default")))

typedef enum hocket_status {
    HOCKET_OK = 0,
    HOCKET_ERROR_INVALID = -1, /* an argument is wrong */
    HOCKET_ERROR_MPI = -2,     /* MPI returned an error: hocket_last_mpi_error() */
    HOCKET_ERROR_MEMORY = -3,
    HOCKET_ERROR_ORDER = -4, /* the schedule does not keep the order that a non-commutative operator needs */
    HOCKET_ERROR_INTERNAL = -5,
    HOCKET_ERROR_THREAD_LEVEL = -6 /* an engine with a thread needs MPI_THREAD_MULTIPLE */
} hocket_status;

HOCKET_API const char* hocket_status_string(hocket_status status);
/* What the last failure in this thread was; valid until the next call. */
HOCKET_API const char* hocket_last_error(void);
HOCKET_API int hocket_last_mpi_error(void);

/* The name of algorithm 0, 1, ... and of its collective; NULL behind the last. */
HOCKET_API const char* hocket_algorithm_get(size_t index, const char** collective);

/* A communicator of hocket's own with the members of an MPI intracommunicator. */
typedef struct hocket_communicator hocket_communicator;

/* Collective over `parent`. */
HOCKET_API hocket_status hocket_communicator_create(MPI_Comm parent, hocket_communicator** communicator);
/* Collective. Operations on it must have been freed. */
HOCKET_API hocket_status hocket_communicator_free(hocket_communicator* communicator);

/* Which schedule. `struct_size` is sizeof(hocket_schedule_parameters), so that later versions can add fields. */
typedef struct hocket_schedule_parameters {
    size_t struct_size;
    const char*
        collective; /* "bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "scatter",
                               "gather", "barrier" */
    /* "pipelined_chain", ...: hocket_algorithm_get. "native": the MPI's own function; also of the collectives
     * "allgatherv", "alltoallv", "alltoallw", "gatherv", "scatterv", "reduce_scatter", "scan" and "exscan". */
    const char* algorithm;
    int root;         /* of bcast, reduce, scatter, gather; else 0 */
    int segments;     /* how fine to cut for pipelining, >= 1 */
    const int* order; /* a cyclic order of all ranks; NULL = 0 .. p-1 */
    /* Of "uneven_ring", "node_aware" and "by_dimension": increasing positions in the order at which a stretch of
       ranks begins, behind a slow link or on another node; NULL = each. */
    const int* starts;
    int num_starts;
} hocket_schedule_parameters;

/* A collective operation, ready to be executed any number of times with any buffers. */
typedef struct hocket_operation hocket_operation;

/* Local. All ranks must give the same parameters. */
HOCKET_API hocket_status hocket_operation_create(hocket_communicator* communicator,
                                                 const hocket_schedule_parameters* parameters,
                                                 hocket_operation** operation);
/* Local. A schedule of "hocket.schedule/1", as JSON text. */
HOCKET_API hocket_status hocket_operation_create_from_json(hocket_communicator* communicator, const char* text,
                                                           size_t length, hocket_operation** operation);
HOCKET_API hocket_status hocket_operation_free(hocket_operation* operation);

/* The arguments of MPI's function, MPI_IN_PLACE included. The buffer of bcast is the receive buffer. */
typedef struct hocket_operation_arguments {
    size_t struct_size;
    const void* send_buffer;
    int64_t send_count;
    MPI_Datatype send_type;
    void* recv_buffer;
    int64_t recv_count; /* of one block, as in MPI; for reductions the count */
    MPI_Datatype recv_type;
    MPI_Op op;
    /* Of collectives whose blocks differ, for each rank, as MPI's functions have them; else NULL. They must last until
     * a request has ended. */
    const int* send_counts;
    const int* send_displacements;
    const int* recv_counts;
    const int* recv_displacements;
    const MPI_Datatype* send_types; /* of alltoallw */
    const MPI_Datatype* recv_types;
} hocket_operation_arguments;

/* Collective and blocking. What is pending in engines without a thread moves on meanwhile; not in a native operation
 * on a communicator on which no request was started before: that is the MPI's blocking function. */
HOCKET_API hocket_status hocket_operation_execute(hocket_operation* operation,
                                                  const hocket_operation_arguments* arguments);

/* What makes requests move on. */
typedef struct hocket_engine hocket_engine;

/* Where the thread of an engine runs; a number from 0 on is that core. */
#define HOCKET_CORE_ANY (-1)  /* where the process may run */
#define HOCKET_CORE_IDLE (-2) /* one that the process is not bound to, where there is one */

typedef struct hocket_engine_parameters {
    size_t struct_size;
    /* "function": the calls of the program (test, wait, progress); needs no thread.
     * "thread": a thread that naps between looks and sleeps when nothing is pending.
     * "spin": a thread that always looks, to compare with.
     * "queue": a thread that carries out one request after another, in the order of their start. */
    const char* kind;
    int core;
    int capacity; /* requests pending at once, after which a start waits for one; 0 = 1024 */
} hocket_engine_parameters;

/* Local. Those with a thread need MPI_THREAD_MULTIPLE. */
HOCKET_API hocket_status hocket_engine_create(const hocket_engine_parameters* parameters, hocket_engine** engine);
/* Waits for all that is pending. Requests that are bound to it must have been freed. */
HOCKET_API hocket_status hocket_engine_free(hocket_engine* engine);
/* CPU time that the engine's thread has used, seconds; 0 without one. */
HOCKET_API hocket_status hocket_engine_get_cpu(hocket_engine* engine, double* seconds);
/* Moves on what is pending, without waiting. */
HOCKET_API hocket_status hocket_progress(hocket_engine* engine);

/* An operation that is bound to buffers, and can be started again and again. */
typedef struct hocket_request hocket_request;

/* Local. An operator of the program's own must live as long as the request; datatypes need not. Algorithm "native": MPI
 * matches such calls by their order, so that all requests of native operations on one communicator must have one
 * engine, of one kind on all ranks. */
HOCKET_API hocket_status hocket_request_create(hocket_operation* operation, const hocket_operation_arguments* arguments,
                                               hocket_engine* engine, hocket_request** request);
/* Collective, does not wait for other ranks. All ranks start requests on a communicator, and execute operations, in one
 * order. */
HOCKET_API hocket_status hocket_request_start(hocket_request* request);
/* As hocket_request_start for each in turn, and all ranks start the same ones together: small reductions of one
 * operation become one, which takes little longer than each. */
HOCKET_API hocket_status hocket_request_start_all(int count, hocket_request* const requests[]);
/* Create and start. */
HOCKET_API hocket_status hocket_operation_start(hocket_operation* operation,
                                                const hocket_operation_arguments* arguments, hocket_engine* engine,
                                                hocket_request** request);
/* `done` becomes 1 if it has ended, or was never started. Returns the error of the communication once it has. */
HOCKET_API hocket_status hocket_request_test(hocket_request* request, int* done);
HOCKET_API hocket_status hocket_request_wait(hocket_request* request);
/* For all, also if some fail; returns the first failure. NULL entries are passed over. */
HOCKET_API hocket_status hocket_request_wait_all(int count, hocket_request* const requests[]);
/* Waits for a pending one. */
HOCKET_API hocket_status hocket_request_free(hocket_request* request);
/* Several ways to carry out a call that recurs, of which the fastest is found while the program runs, alike on all
 * ranks: by what they take from the start to the end of the wait, with what the program computes in between. */
typedef struct hocket_selection hocket_selection;

typedef struct hocket_arm {
    const char* name;            /* for the report */
    hocket_operation* operation; /* of one collective and root in all arms */
    hocket_engine*
        engine;        /* NULL: carried out in the start, which waits then; other requests do not move on meanwhile */
    double expected_s; /* by a model or a measurement; 0 = not known. Where those of all arms are, one that
                       takes more than thrice the best is not tried */
} hocket_arm;

/* Collective over `communicator`, which carries what the ranks agree on. Arm 0 is the MPI's own way: no other one is
 * kept that is more than 3 % slower. `max_in_flight`: calls that are started before the first of them has been waited
 * for, >= 1. */
HOCKET_API hocket_status hocket_selection_create(hocket_communicator* communicator, int count, const hocket_arm arms[],
                                                 int max_in_flight, hocket_selection** selection);
/* As hocket_operation_start. */
HOCKET_API hocket_status hocket_selection_start(hocket_selection* selection,
                                                const hocket_operation_arguments* arguments, hocket_request** request);
/* What was chosen and why, as JSON text that is valid until the next call for this selection; NULL without memory. */
HOCKET_API const char* hocket_selection_get_report(hocket_selection* selection);
/* Requests of it must have been freed. */
HOCKET_API hocket_status hocket_selection_free(hocket_selection* selection);

/* Waits for all that is pending in any engine: before MPI_Finalize, or before what they use is freed. */
HOCKET_API hocket_status hocket_finalize(void);

#ifdef __cplusplus
}
#endif

#endif
