/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The hot path: clocks, guard and the CALL record. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

struct state hocket_state = {.lock = PTHREAD_MUTEX_INITIALIZER};
__thread struct thread hocket_thread = {.number = -1};

static int64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t hocket_clock_ns(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t hocket_cpu_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

/* The next library's function: MPI's own, or another tool's that stands between. */
void* hocket_resolve(const char* name) {
    void* function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr,
                "hocket: the MPI library of this program has no %s; it is not the MPI that the recorder was "
                "built for\n",
                name);
        abort();
    }
    return function;
}

static unsigned char* put(unsigned char* to, const void* from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

/* Every function is named in the file before its first call. */
static unsigned char named[HOCKET_TRACE_NONE16 / 8 + 1];

static void name_function(uint16_t function) {
    const char* name = hocket_function_names[function];
    const size_t length = (HOCKET_TRACE_RECORD_BYTES + strlen(name) + 7) & ~(size_t)7;
    unsigned char* record = hocket_file_reserve(length);
    if (!record) return;
    const uint16_t kind = HOCKET_TRACE_FUNCTION;
    memset(record + 4, 0, length - 4);
    memcpy(record + 4, &kind, 2);
    memcpy(record + 6, &function, 2);
    memcpy(record + 8, name, strlen(name));
    hocket_file_commit(length);
    named[function / 8] = (unsigned char)(named[function / 8] | (1u << (function % 8)));
}

void hocket_forget_names(void) { memset(named, 0, sizeof named); }

static int is_named(uint16_t function) { return named[function / 8] >> (function % 8) & 1; }

static void read_cpu(int64_t now_ns, int64_t* cpu_ns, struct call* call, uint32_t field) {
    if (now_ns < hocket_thread.next_cpu_ns) return;
    *cpu_ns = hocket_thread.cpu_ns = hocket_cpu_ns();
    hocket_thread.cpu_at_ns = now_ns;
    hocket_thread.next_cpu_ns = now_ns + HOCKET_TRACE_CPU_INTERVAL_NS;
    call->fields |= field;
}

int hocket_enter(struct call* call, uint16_t function) {
    struct thread* thread = &hocket_thread;
    if (thread->depth || !hocket_state.active) return 0;
    thread->depth = 1;
    call->function = function;
    call->flags = 0;
    call->fields = 0;
    call->enter_ns = hocket_clock_ns();
    if (thread->number == 0) {
        if (!is_named(function)) {
            pthread_mutex_lock(&hocket_state.lock);
            if (hocket_state.active) name_function(function);
            pthread_mutex_unlock(&hocket_state.lock);
        }
        struct hocket_trace_header* header = hocket_state.header;
        header->open_function = function;
        header->open_enter_ns = call->enter_ns;
    }
    read_cpu(call->enter_ns, &call->cpu_enter_ns, call, HOCKET_TRACE_CPU_ENTER);
    return 1;
}

/* Takes the lock, which hocket_write gives back: the details of a call and its record are one. */
void hocket_exit(struct call* call, int result) {
    call->exit_ns = hocket_clock_ns();
    read_cpu(call->exit_ns, &call->cpu_exit_ns, call, HOCKET_TRACE_CPU_EXIT);
    pthread_mutex_lock(&hocket_state.lock);
    if (result != MPI_SUCCESS) {
        call->error = result;
        call->fields |= HOCKET_TRACE_ERROR;
    }
}

static size_t counts_bytes(const struct call* call, uint32_t field, const struct counts* counts) {
    return call->fields & field ? 4 + 8 * (size_t)counts->n : 0;
}

static int64_t count_at(const struct counts* counts, int i) {
    if (counts->width == sizeof(int)) return ((const int*)counts->values)[i];
    return ((const int64_t*)counts->values)[i];
}

static unsigned char* put_counts(unsigned char* to, const struct counts* counts) {
    const uint32_t n = (uint32_t)counts->n;
    to = put(to, &n, 4);
    const int64_t size = counts->types ? 0 : hocket_type_bytes(counts->type, NULL);
    for (int i = 0; i < counts->n; ++i) {
        const int64_t count = count_at(counts, i);
        /* The type of an empty block may be anything. */
        const int64_t bytes =
            count == 0 ? 0 : count * (counts->types ? hocket_type_bytes(counts->types[i], NULL) : size);
        to = put(to, &bytes, 8);
    }
    return to;
}

#define PUT(bit, member)                                                            \
    do {                                                                            \
        if (call->fields & (bit)) to = put(to, &call->member, sizeof call->member); \
    } while (0)

static unsigned char* put_fields(unsigned char* to, const struct call* call) {
    PUT(HOCKET_TRACE_CPU_ENTER, cpu_enter_ns);
    PUT(HOCKET_TRACE_CPU_EXIT, cpu_exit_ns);
    PUT(HOCKET_TRACE_COMM, communicator);
    PUT(HOCKET_TRACE_BYTES, bytes);
    PUT(HOCKET_TRACE_COUNT, count);
    PUT(HOCKET_TRACE_TYPE, datatype);
    PUT(HOCKET_TRACE_ROOT, root);
    PUT(HOCKET_TRACE_OP, operator_);
    PUT(HOCKET_TRACE_PEER, peer);
    PUT(HOCKET_TRACE_PEER, tag);
    PUT(HOCKET_TRACE_RECEIVE, receive_peer);
    PUT(HOCKET_TRACE_RECEIVE, receive_tag);
    PUT(HOCKET_TRACE_RECEIVE, receive_bytes);
    PUT(HOCKET_TRACE_STATUS, status_source);
    PUT(HOCKET_TRACE_STATUS, status_tag);
    PUT(HOCKET_TRACE_STATUS, status_bytes);
    PUT(HOCKET_TRACE_REQUEST, request);
    if (call->fields & HOCKET_TRACE_REQUESTS) {
        to = put(to, &call->num_requests, 4);
        to = put(to, call->requests, call->num_requests * sizeof *call->requests);
    }
    if (call->fields & HOCKET_TRACE_SEND_BYTES) to = put_counts(to, &call->sends);
    if (call->fields & HOCKET_TRACE_RECEIVE_BYTES) to = put_counts(to, &call->receives);
    PUT(HOCKET_TRACE_NEW_COMM, new_communicator);
    PUT(HOCKET_TRACE_WINDOW, window);
    PUT(HOCKET_TRACE_FILE, file);
    PUT(HOCKET_TRACE_ERROR, error);
    PUT(HOCKET_TRACE_FOLDED, fold);
    return to;
}

unsigned char* hocket_write_record(const struct call* call) {
    if (!is_named(call->function)) name_function(call->function);
    /* All scalar fields together are below 152 bytes. */
    size_t most = HOCKET_TRACE_CALL_BYTES + 160;
    if (call->fields & (HOCKET_TRACE_REQUESTS | HOCKET_TRACE_SEND_BYTES | HOCKET_TRACE_RECEIVE_BYTES)) {
        most += counts_bytes(call, HOCKET_TRACE_SEND_BYTES, &call->sends) +
                counts_bytes(call, HOCKET_TRACE_RECEIVE_BYTES, &call->receives);
        if (call->fields & HOCKET_TRACE_REQUESTS) most += 4 + call->num_requests * sizeof *call->requests;
    }
    if (hocket_file_bytes() + most > hocket_state.limit_bytes) {
        hocket_stop(HOCKET_TRACE_END_LIMIT); /* hocket tells of it when the program has ended, once for all ranks */
        return NULL;
    }
    unsigned char* record = hocket_file_reserve(most);
    if (!record) {
        fprintf(stderr, "hocket: rank %d: no space left for the trace; recording ends here, the program goes on\n",
                hocket_state.rank);
        hocket_stop(HOCKET_TRACE_END_EXIT);
        return NULL;
    }
    const struct hocket_trace_record head = {0, HOCKET_TRACE_CALL, call->function};
    unsigned char* to = put(record, &head, sizeof head);
    to = put(to, &call->enter_ns, 8);
    to = put(to, &call->exit_ns, 8);
    to = put(to, &call->fields, 4);
    const uint16_t thread = (uint16_t)hocket_thread.number;
    to = put(to, &thread, 2);
    to = put(to, &call->flags, 2);
    to = put_fields(to, call);
    const uint64_t zero = 0;
    const size_t padding = (size_t)(record - to) & 7;
    to = put(to, &zero, padding);
    hocket_file_commit((size_t)(to - record));
    ++hocket_state.num_calls;
    return record;
}

void hocket_write(struct call* call) {
    struct thread* thread = &hocket_thread;
    if (hocket_state.active) {
        if (thread->number < 0) thread->number = hocket_state.num_threads++;
        if (thread->number == 0) hocket_state.header->open_enter_ns = 0;
        if (call->fields & HOCKET_TRACE_FOLDED) {
            hocket_write_poll(call);
        } else {
            thread->polling = 0;
            hocket_write_record(call);
        }
    }
    pthread_mutex_unlock(&hocket_state.lock);
    thread->depth = 0;
}
