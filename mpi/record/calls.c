/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The hot path: clocks and guard around a call, and what is written of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "record.h"

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
    if (hocket_is_left_out[function]) return 1;
    call->enter_ns = hocket_now_ns();
    if (thread->number == 0) {
        if (!hocket_is_named(function)) {
            pthread_mutex_lock(&hocket_state.lock);
            if (hocket_state.active) hocket_name_function(function);
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
    if (!hocket_is_left_out[call->function]) {
        call->exit_ns = hocket_now_ns();
        read_cpu(call->exit_ns, &call->cpu_exit_ns, call, HOCKET_TRACE_CPU_EXIT);
    }
    pthread_mutex_lock(&hocket_state.lock);
    if (result != MPI_SUCCESS) {
        call->error = result;
        call->fields |= HOCKET_TRACE_ERROR;
    }
}

void hocket_write(struct call* call) {
    struct thread* thread = &hocket_thread;
    if (hocket_state.active && !hocket_is_left_out[call->function]) {
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
