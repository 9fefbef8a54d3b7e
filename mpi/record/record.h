/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The recorder's inside. One wrapper per MPI function (made by mpi/pmpi) does
 *     enter -> the MPI library's PMPI function -> exit -> details -> write
 * Details are taken after the call, on the far side of the exit instant, so that they are not counted as MPI time; only
 * what the call destroys (requests, freed handles) is taken before. From exit to write the lock is held. */
#ifndef HOCKET_RECORD_H
#define HOCKET_RECORD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "hocket/trace/format.h"

/* All is compiled with hidden visibility, except the MPI functions. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

/* All MPI handles are integers or pointers: one key for both. */
#define KEY(handle) ((uint64_t)(handle))

/* A vector of counts or types as the program passed it, int or MPI_Count. */
struct counts {
    const void* values;
    size_t width;              /* sizeof one value */
    const MPI_Datatype* types; /* one for each rank, or NULL: all are `type` */
    MPI_Datatype type;
    int n;
};

static inline int64_t hocket_count_at(const struct counts* counts, int i) {
    if (counts->width == sizeof(int)) return ((const int*)counts->values)[i];
    return ((const int64_t*)counts->values)[i];
}

struct call {
    int64_t enter_ns, exit_ns, cpu_enter_ns, cpu_exit_ns;
    int64_t bytes, receive_bytes, status_bytes;
    uint64_t request;
    uint32_t fields;
    uint32_t communicator, new_communicator, datatype, operator_, window, file;
    int32_t root, peer, tag, receive_peer, receive_tag, status_source, status_tag, error;
    uint16_t function, flags;
    struct counts sends, receives;
    const struct hocket_trace_completion* requests;
    uint32_t num_requests;
    struct hocket_trace_fold fold;
};

/* Of a thread: the time-stamp counter and the time when the clock was set, and ns a tick in 32 bits behind the
 * point. */
struct clock {
    uint64_t ticks, rate;
    int64_t ns;
};

struct thread {
    struct clock clock;
    int depth;           /* > 0: inside MPI, nothing is recorded */
    int32_t number;      /* 0 is the thread that initialised MPI; -1: not yet numbered */
    int64_t next_cpu_ns; /* read the CPU clock at or after this instant */
    int64_t cpu_ns;      /* its last reading */
    int64_t cpu_at_ns;   /* when that was */
    int polling;         /* the last call was a poll that found nothing */
};

struct state {
    int active; /* recording; set and cleared under the lock, read without it */
    int owner;  /* process id: a forked child must not write */
    int32_t rank, num_ranks;
    int32_t num_threads;
    MPI_Group world;
    uint64_t num_calls;
    uint64_t next_request;
    uint64_t limit_bytes; /* of the file; no call is recorded beyond it */
    pthread_mutex_t lock;
    struct hocket_trace_header* header;
};

/* state.c: what all parts share. */
extern struct state hocket_state;
extern __thread struct thread hocket_thread;

static inline int64_t hocket_read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline int64_t hocket_clock_ns(void) { return hocket_read_clock(CLOCK_MONOTONIC); }
static inline int64_t hocket_cpu_ns(void) { return hocket_read_clock(CLOCK_THREAD_CPUTIME_ID); }

/* clock.c: instants of CLOCK_MONOTONIC in less time. */
void hocket_clock_begin(void); /* as early as possible, once */
void hocket_clock_use(void);   /* from now on */
int64_t hocket_now_ns(void);

/* record_wrappers.c, made by mpi/pmpi */
extern const char* const hocket_function_names[];
extern const char* const hocket_function_groups[];

/* filter.c: functions whose calls get no record. Their requests and communicators are followed like those of others. */
extern unsigned char hocket_is_left_out[];
void hocket_read_filter(void);
void hocket_print_filter(FILE*); /* keys of meta.json */

/* calls.c: the hot path. Returns 0 when the call is not to be recorded. */
int hocket_enter(struct call*, uint16_t function);
void hocket_exit(struct call*, int result);
void hocket_write(struct call*);
void* hocket_resolve(const char* name);

/* definitions.c: under the lock. Every function is named in the file before its first call. */
extern unsigned char hocket_named[HOCKET_TRACE_NONE16 / 8 + 1]; /* a bit for each function */
static inline int hocket_is_named(uint16_t function) { return hocket_named[function / 8] >> (function % 8) & 1; }
void hocket_name_function(uint16_t function);
void hocket_forget_names(void);
/* Room for a definition of so many bytes behind its function, to be committed; NULL: there is none. */
unsigned char* hocket_begin_definition(uint16_t kind, uint16_t function, size_t bytes);

/* records.c: under the lock. */
unsigned char* hocket_write_record(const struct call*); /* its end; NULL: there was no room, and recording has ended */
void hocket_stop(enum hocket_trace_end);                /* writes the footer and closes the file */
void hocket_forget_records(void);

/* fold.c */
void hocket_write_poll(struct call*); /* a call with HOCKET_TRACE_FOLDED: a poll that found nothing */

/* details.c: what a call was about; all under the lock. */
void hocket_comm(struct call*, MPI_Comm);
void hocket_new_comm(struct call*, MPI_Comm made, MPI_Comm parent);
uint32_t hocket_comm_before(MPI_Comm); /* takes the lock itself: for calls that free what they get */
void hocket_comm_id(struct call*, uint32_t id);
void hocket_forget_comm(MPI_Comm);
int hocket_own_rank(const struct call*);
void hocket_message(struct call*, int64_t count, MPI_Datatype);
void hocket_take_counts(struct call*, int send, struct counts);
/* Sizes of the blocks of a v-variant, whose `bytes` is their sum. */
void hocket_counts(struct call*, int send, const void* counts, size_t width, const MPI_Datatype* types, MPI_Datatype);
void hocket_neighbour_counts(struct call*, int send, const void* counts, size_t width, const MPI_Datatype* types,
                             MPI_Datatype);
void hocket_in_place(struct call*, const void* send_buffer, const void* receive_buffer);
void hocket_root(struct call*, int root);
int hocket_is_root(const struct call*);
int hocket_is_bystander(const struct call*);
void hocket_operator(struct call*, MPI_Op);
void hocket_forget_operator(MPI_Op);
void hocket_forget_type(MPI_Datatype);
void hocket_peer(struct call*, int peer, int tag);
void hocket_receive(struct call*, int peer, int tag, int64_t count, MPI_Datatype);
void hocket_status(struct call*, const MPI_Status*);
int64_t hocket_type_bytes(MPI_Datatype, uint32_t* id);
void hocket_define_world(void);
void hocket_forget_all(void);

/* targets.c: the windows and files of calls; under the lock. */
void hocket_window(struct call*, MPI_Win);
void hocket_window_group(struct call*, MPI_Group, MPI_Win);
void hocket_forget_window(MPI_Win);
void hocket_file(struct call*, MPI_File);
void hocket_forget_file(MPI_File);

/* requests.c */
enum request_kind { REQUEST_SEND = 0, REQUEST_RECEIVE = 1, REQUEST_PERSISTENT = 2 };
struct batch { /* the requests of a Wait..., Test... or Startall, looked up before the call destroys them */
    int n;
    int has_receive;
    struct known {
        uint64_t key, id;
        uint32_t kind;
    }* known;
    struct hocket_trace_completion* done;
    MPI_Status* statuses;
    void* heap;
    struct known known_here[8];
    struct hocket_trace_completion done_here[8];
    MPI_Status statuses_here[8];
};
void hocket_new_request(struct call*, MPI_Request, uint32_t kind);
void hocket_name_request(struct call*, MPI_Request);
void hocket_partitions(struct call*, int64_t partition_bytes); /* of the request that the call has made */
void hocket_ready(struct call*, MPI_Request, int64_t partitions);
void hocket_forget_request(struct call*, uint64_t key);
/* Returns the statuses to give to MPI: the caller's, or ours where the caller ignores what a receive brings. */
MPI_Status* hocket_batch_begin(struct batch*, int n, const MPI_Request*, MPI_Status*, MPI_Status* ignore);
void hocket_batch_end(struct batch*, struct call*, int num_done, const int* indices, const MPI_Status*);
void hocket_batch_started(struct batch*, struct call*);
void hocket_batch_free(struct batch*);

/* file.c: the blocks of the mapped file that grows. */
int hocket_file_open(const char* path, int32_t rank, int32_t num_ranks);
void hocket_file_discard(void); /* map scratch memory instead: to measure the cost of a call */
unsigned char* hocket_file_reserve(size_t bytes);
void hocket_file_commit(const unsigned char* end);
uint64_t hocket_file_bytes(void); /* so far */
void hocket_file_close(void);
extern double hocket_file_ns_per_byte; /* what the first growth of the file cost */
extern uint32_t hocket_file_window;    /* its number: records of an earlier one are no longer mapped */

/* windows.c: parts of a file, mapped in order. A thread of the library prepares the next one. */
struct window {
    unsigned char* bytes; /* NULL: none */
    off_t offset;
    size_t size;
};
int hocket_window_map(int file, off_t offset, size_t size, struct window*);
void hocket_window_prepare(int file, off_t offset, size_t size);
/* Replaces the window by one from `offset` on, of `size` at least; 0: there is no room. */
int hocket_window_move(int file, off_t offset, size_t size, struct window*);
void hocket_windows_end(struct window*);

/* table.c: handle -> number. Equal keys are allowed and leave in the order they came: MPI libraries give one handle to
 * all requests that are complete at once. */
struct entry {
    uint64_t key, value;
    uint32_t kind, used;
};
struct table {
    struct entry* entries;
    uint32_t capacity, count;
};
struct entry* hocket_table_find(const struct table*, uint64_t key);
int hocket_table_insert(struct table*, uint64_t key, uint64_t value, uint32_t kind);
void hocket_table_remove(struct table*, struct entry*);

/* json.c */
void hocket_print_json_string(FILE*, const char* text, size_t length);

/* cost.c: nothing is kept of the calls that it makes. */
int64_t hocket_measure_cost_ns(void);

/* meta.c: 0 where it cannot be written. `level` of threads; `cost_ns`: of a call without what it writes. */
int hocket_write_meta(const char* folder, const char* level, int64_t cost_ns);

#endif
