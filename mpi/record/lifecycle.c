/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Recording starts when MPI_Init or MPI_Session_init returns and ends with MPI_Finalize, MPI_Abort or the process. A
 * process that never initialises MPI writes nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/launched.h"
#include "common/other_abi.h"
#include "pmpi/record_functions.h"
#include "record.h"

/* Some eight million calls of a rank. */
#define USUAL_LIMIT_BYTES (UINT64_C(64) << 20)

static int64_t cost_ns;
static int has_begun;
static int by_session;   /* by MPI_Session_init, and MPI_Init was not called since */
static int num_sessions; /* open ones; after the last one a program may open another. Under the lock. */
static int has_file;     /* of its own, with records */
static char own_path[4096];

/* Threads may begin at once: one of them starts the recording, and the others wait for it. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/* ---- the group of the world, under the lock ---- */

static int has_world;

static void leave_world(void) {
    if (has_world) PMPI_Group_free(&hocket_state.world);
    hocket_state.world = MPI_GROUP_NULL;
    has_world = 0;
}

static void take_world(void) {
    leave_world();
    has_world = PMPI_Comm_group(MPI_COMM_WORLD, &hocket_state.world) == MPI_SUCCESS;
}

/* ---- start and stop ---- */

static int is_child_of_spawn(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

static uint64_t limit_from_environment(void) {
    const char* text = getenv("HOCKET_TRACE_LIMIT");
    char* end = NULL;
    const unsigned long long bytes = text ? strtoull(text, &end, 10) : 0;
    return end && *end == '\0' && bytes > 0 ? bytes : USUAL_LIMIT_BYTES; /* hocket has checked what a user gave */
}

/* What the ways to begin differ in. */
struct beginning {
    uint16_t function;
    const char* level; /* of threads */
    int is_collective; /* MPI_Session_init is not, and there is no MPI_COMM_WORLD behind it */
};

/* The number of ranks that can record. Every rank asks once, when its MPI_Init returns, also one that began by a
 * session before. */
static int count_recording(int mine) {
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void tell_of_failure(int all, const char* why) {
    if (hocket_state.rank != 0) return;
    fprintf(stderr, "hocket: cannot write the trace to %s (%d of %d ranks%s%s): the program runs on unrecorded\n",
            getenv("HOCKET_TRACE"), hocket_state.num_ranks - all, hocket_state.num_ranks, *why ? ": " : "", why);
}

/* All ranks record or none does: a trace without some ranks is of little use. Where a rank cannot ask the others it
 * goes by itself. */
static void open_trace(const char* folder, const struct beginning* by) {
    snprintf(own_path, sizeof own_path, "%s/rank-%06d.bin", folder, hocket_state.rank);
    /* A program that this one has spawned starts by a session too, and cannot ask for its parent. */
    if (!by->is_collective && access(own_path, F_OK) == 0) return;
    int mine = hocket_file_open(own_path, hocket_state.rank, hocket_state.num_ranks);
    if (hocket_state.rank == 0) mine = mine && hocket_write_meta(folder, by->level, cost_ns);
    const int reason = errno;
    const int all = by->is_collective ? count_recording(mine) : mine ? hocket_state.num_ranks : 0;
    if (all == hocket_state.num_ranks) {
        pthread_mutex_lock(&hocket_state.lock);
        hocket_state.owner = (int)getpid();
        hocket_state.limit_bytes = limit_from_environment();
        hocket_define_world();
        has_file = hocket_state.active = 1;
        pthread_mutex_unlock(&hocket_state.lock);
        return;
    }
    hocket_file_close();
    unlink(own_path);
    if (!by->is_collective) {
        fprintf(stderr, "hocket: rank %d cannot write the trace to %s (%s): it runs on unrecorded\n", hocket_state.rank,
                folder, strerror(reason));
    } else {
        tell_of_failure(all, mine ? "" : strerror(reason));
    }
}

static const char* trace_folder(void) {
    const char* folder = getenv("HOCKET_TRACE");
    return folder && *folder ? folder : NULL;
}

/* The group of the world, of which this is rank `rank`, is known. */
static void begin(const struct beginning* by, const char* folder) {
    const struct hocket_alone alone = hocket_find_alone(hocket_state.num_ranks);
    if (alone.launcher) {
        /* All would write to one file. */
        if (alone.is_first)
            fprintf(stderr,
                    "hocket: %s has started %d processes, and each is alone in its MPI_COMM_WORLD: the launcher is "
                    "not of this MPI; nothing is recorded\nhocket: %s\n",
                    alone.launcher, alone.processes, HOCKET_ALONE_HINT);
        leave_world();
        by_session = 0;
        return;
    }
    hocket_thread.number = 0;
    hocket_state.num_threads = 1;
    hocket_clock_use();
    hocket_read_filter();
    if (hocket_state.rank == 0) cost_ns = hocket_measure_cost_ns();
    open_trace(folder, by);
}

static void write_beginning(const struct beginning* by, const struct call* entered) {
    struct call call;
    if (!hocket_enter(&call, by->function)) return;
    call.enter_ns = entered->enter_ns;
    call.cpu_enter_ns = entered->cpu_enter_ns;
    call.fields |= HOCKET_TRACE_CPU_ENTER;
    hocket_exit(&call, MPI_SUCCESS);
    hocket_write(&call);
}

static void start(const struct call* entered, uint16_t function) {
    const char* folder = trace_folder();
    if (!folder) return;
    pthread_mutex_lock(&starting);
    hocket_thread.depth = 1;
    if (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL)) { /* by a session, whose recording has ended */
        if (!is_child_of_spawn()) count_recording(has_file);
        hocket_thread.depth = 0;
        pthread_mutex_unlock(&starting);
        return;
    }
    int level = 0;
    PMPI_Query_thread(&level);
    const struct beginning by = {function,
                                 level == MPI_THREAD_MULTIPLE     ? "multiple"
                                 : level == MPI_THREAD_SERIALIZED ? "serialized"
                                 : level == MPI_THREAD_FUNNELED   ? "funneled"
                                                                  : "single",
                                 1};
    if (!is_child_of_spawn()) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &hocket_state.rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &hocket_state.num_ranks);
        take_world();
        begin(&by, folder);
    }
    hocket_thread.depth = 0;
    pthread_mutex_unlock(&starting);
    write_beginning(&by, entered);
}

__attribute__((destructor)) static void stop_at_exit(void) {
    /* The lock may be held by this very thread: an MPI error inside our own calls ends the process. */
    if (pthread_mutex_trylock(&hocket_state.lock) != 0) return;
    hocket_stop(by_session && num_sessions == 0 ? HOCKET_TRACE_END_FINALIZE : HOCKET_TRACE_END_EXIT);
    pthread_mutex_unlock(&hocket_state.lock);
}

/* ---- the functions where recording starts and ends; each name passes on to its own ---- */

enum entrance {
    INSIDE,   /* called by MPI itself or by another tool */
    FIRST,    /* nothing is recorded so far */
    RECORDED, /* what any other call is, in a program that began by another function */
};

static enum entrance enter_beginning(struct call* call, uint16_t function) {
    if (hocket_enter(call, function)) return RECORDED;
    if (hocket_thread.depth) return INSIDE;
    hocket_thread.depth = 1;
    static int clock_has_begun;
    if (!__atomic_exchange_n(&clock_has_begun, 1, __ATOMIC_RELAXED)) hocket_clock_begin();
    call->enter_ns = hocket_clock_ns();
    call->cpu_enter_ns = hocket_cpu_ns();
    return FIRST;
}

static void exit_init(enum entrance entrance, struct call* call, uint16_t function, int result) {
    if (entrance == FIRST) {
        hocket_thread.depth = 0;
        if (result == MPI_SUCCESS) start(call, function);
    } else if (entrance == RECORDED) { /* it began by a session; now MPI_Finalize ends it */
        const int begins = result == MPI_SUCCESS && by_session && !is_child_of_spawn();
        const int all = begins ? count_recording(1) : hocket_state.num_ranks;
        hocket_exit(call, result);
        if (result == MPI_SUCCESS) {
            take_world();
            by_session = 0;
        }
        hocket_write(call);
        if (all < hocket_state.num_ranks) {
            tell_of_failure(all, "");
            pthread_mutex_lock(&hocket_state.lock);
            hocket_stop(HOCKET_TRACE_END_EXIT);
            unlink(own_path);
            pthread_mutex_unlock(&hocket_state.lock);
        }
    }
}

static int init(int* argc, char*** argv, int (*next)(int*, char***)) {
    struct call call;
    const enum entrance entrance = enter_beginning(&call, FUNCTION_MPI_Init);
    const int result = next(argc, argv);
    exit_init(entrance, &call, FUNCTION_MPI_Init, result);
    return result;
}

static int init_thread(int* argc, char*** argv, int required, int* provided, int (*next)(int*, char***, int, int*)) {
    struct call call;
    const enum entrance entrance = enter_beginning(&call, FUNCTION_MPI_Init_thread);
    const int result = next(argc, argv, required, provided);
    exit_init(entrance, &call, FUNCTION_MPI_Init_thread, result);
    return result;
}

static int is_finalized; /* by MPI_Finalize, recorded */

static void tell_of_the_rest(void) {
    static int is_told;
    if (hocket_state.rank == 0 && !__atomic_exchange_n(&is_told, 1, __ATOMIC_RELAXED))
        fputs("hocket: what the program does in sessions after MPI_Finalize is not recorded\n", stderr);
}

static int finalize(int (*next)(void)) {
    struct call call;
    if (!hocket_enter(&call, FUNCTION_MPI_Finalize)) return next();
    pthread_mutex_lock(&hocket_state.lock);
    leave_world();
    if (num_sessions > 0) tell_of_the_rest();
    pthread_mutex_unlock(&hocket_state.lock);
    const int result = next();
    hocket_exit(&call, result);
    hocket_write(&call);
    pthread_mutex_lock(&hocket_state.lock);
    hocket_stop(HOCKET_TRACE_END_FINALIZE);
    is_finalized = 1;
    pthread_mutex_unlock(&hocket_state.lock);
    return result;
}

static int abort_run(MPI_Comm comm, int code, int (*next)(MPI_Comm, int)) {
    struct call call;
    if (hocket_enter(&call, FUNCTION_MPI_Abort)) {
        hocket_exit(&call, MPI_SUCCESS); /* it does not come back */
        hocket_comm(&call, comm);
        hocket_write(&call);
        pthread_mutex_lock(&hocket_state.lock);
        hocket_stop(HOCKET_TRACE_END_ABORT);
        pthread_mutex_unlock(&hocket_state.lock);
    }
    return next(comm, code);
}

#ifdef FUNCTION_MPI_Session_init

/* "mpi://WORLD" has all processes of the launch. The group lives as long as a session is open. */
static int find_world(MPI_Session session) {
    leave_world();
    has_world = PMPI_Group_from_session_pset(session, "mpi://WORLD", &hocket_state.world) == MPI_SUCCESS;
    return has_world;
}

static const char* level_of(MPI_Session session) {
    static const char* const names[][2] = {{"MPI_THREAD_MULTIPLE", "multiple"},
                                           {"MPI_THREAD_SERIALIZED", "serialized"},
                                           {"MPI_THREAD_FUNNELED", "funneled"}};
    char level[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info info;
    if (PMPI_Session_get_info(session, &info) != MPI_SUCCESS) return "single";
    PMPI_Info_get(info, "thread_level", MPI_MAX_INFO_VAL, level, &found);
    PMPI_Info_free(&info);
    for (int i = 0; found && i < 3; ++i) {
        if (strcmp(level, names[i][0]) == 0) return names[i][1];
    }
    return "single";
}

static void start_by_session(const struct call* entered, MPI_Session session) {
    const char* folder = trace_folder();
    if (!folder) return;
    pthread_mutex_lock(&starting);
    hocket_thread.depth = 1;
    const struct beginning by = {FUNCTION_MPI_Session_init, level_of(session), 0};
    if (!__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL) && find_world(session)) {
        PMPI_Group_rank(hocket_state.world, &hocket_state.rank);
        PMPI_Group_size(hocket_state.world, &hocket_state.num_ranks);
        by_session = 1;
        begin(&by, folder);
    }
    hocket_thread.depth = 0;
    pthread_mutex_unlock(&starting);
    write_beginning(&by, entered);
}

static int session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session,
                        int (*next)(MPI_Info, MPI_Errhandler, MPI_Session*)) {
    struct call call;
    const enum entrance entrance = enter_beginning(&call, FUNCTION_MPI_Session_init);
    const int result = next(info, handler, session);
    if (entrance == FIRST) {
        hocket_thread.depth = 0;
        if (result != MPI_SUCCESS) return result;
        pthread_mutex_lock(&hocket_state.lock);
        ++num_sessions;
        if (is_finalized) tell_of_the_rest();
        pthread_mutex_unlock(&hocket_state.lock);
        start_by_session(&call, *session);
    } else if (entrance == RECORDED) {
        hocket_exit(&call, result);
        if (result == MPI_SUCCESS && num_sessions++ == 0 && by_session) find_world(*session);
        hocket_write(&call);
    }
    return result;
}

static int session_finalize(MPI_Session* session, int (*next)(MPI_Session*)) {
    struct call call;
    const int is_recorded = hocket_enter(&call, FUNCTION_MPI_Session_finalize);
    if (!is_recorded && hocket_thread.depth) return next(session);
    const int is_open = session && *session != MPI_SESSION_NULL;
    pthread_mutex_lock(&hocket_state.lock);
    if (is_open && --num_sessions == 0 && by_session) leave_world();
    pthread_mutex_unlock(&hocket_state.lock);
    const int result = next(session);
    if (!is_recorded) return result;
    hocket_exit(&call, result);
    if (result != MPI_SUCCESS && is_open && num_sessions++ == 0 && by_session) find_world(*session);
    hocket_write(&call);
    return result;
}

#endif

#define ENTRY(name, function, parameters, types, ...) \
    int name parameters {                             \
        static int(*next) types;                      \
        if (!next) next = hocket_resolve(#name);      \
        return function(__VA_ARGS__);                 \
    }
ENTRY(MPI_Init, init, (int* argc, char*** argv), (int*, char***), argc, argv, next)
ENTRY(PMPI_Init, init, (int* argc, char*** argv), (int*, char***), argc, argv, next)
ENTRY(MPI_Init_thread, init_thread, (int* argc, char*** argv, int required, int* provided), (int*, char***, int, int*),
      argc, argv, required, provided, next)
ENTRY(PMPI_Init_thread, init_thread, (int* argc, char*** argv, int required, int* provided), (int*, char***, int, int*),
      argc, argv, required, provided, next)
ENTRY(MPI_Finalize, finalize, (void), (void), next)
ENTRY(PMPI_Finalize, finalize, (void), (void), next)
ENTRY(MPI_Abort, abort_run, (MPI_Comm comm, int code), (MPI_Comm, int), comm, code, next)
ENTRY(PMPI_Abort, abort_run, (MPI_Comm comm, int code), (MPI_Comm, int), comm, code, next)
#ifdef FUNCTION_MPI_Session_init
ENTRY(MPI_Session_init, session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session* session),
      (MPI_Info, MPI_Errhandler, MPI_Session*), info, handler, session, next)
ENTRY(PMPI_Session_init, session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session* session),
      (MPI_Info, MPI_Errhandler, MPI_Session*), info, handler, session, next)
ENTRY(MPI_Session_finalize, session_finalize, (MPI_Session * session), (MPI_Session*), session, next)
ENTRY(PMPI_Session_finalize, session_finalize, (MPI_Session * session), (MPI_Session*), session, next)
#endif
