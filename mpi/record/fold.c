/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Polls in a row that found nothing: one record for each way of polling (struct hocket_trace_fold), counted up in the
 * mapped file. A poll alone is a record like any other; the next of its kind begins a fold. All under the lock. */
#include <string.h>

#include "record.h"

/* A loop that polls in more ways than these begins anew each time: then a record stands for few calls, or for one. */
enum { MOST_WAYS = 8 };

struct way {
    uint16_t function;
    uint32_t communicator; /* NONE: the function has none */
    unsigned char* counts; /* the fold in the mapped file; NULL: one poll so far, with a record of its own */
    struct hocket_trace_fold fold;
};

/* What a thread polls since its last other call. */
struct polling {
    uint32_t num_ways, num_folds;
    uint32_t window; /* of the file, in which the folds lie */
    int64_t exit_ns, exit_cpu_ns;
    struct way ways[MOST_WAYS];
};

static __thread struct polling polling;

static void begin_anew(struct polling* now) { now->num_ways = now->num_folds = 0; }

/* NULL: this poll is the first of its kind, and no fold is open. */
static struct way* find_or_add(struct polling* now, const struct call* call) {
    const uint32_t communicator = call->fields & HOCKET_TRACE_COMM ? call->communicator : HOCKET_TRACE_NONE;
    for (uint32_t i = 0; i < now->num_ways; ++i) {
        if (now->ways[i].function == call->function && now->ways[i].communicator == communicator) return &now->ways[i];
    }
    if (now->num_ways == MOST_WAYS) begin_anew(now);
    struct way* way = &now->ways[now->num_ways++];
    *way = (struct way){.function = call->function, .communicator = communicator};
    return now->num_folds > 0 ? way : NULL;
}

static void begin_fold(struct polling* now, struct way* way, struct call* call) {
    call->fields &= HOCKET_TRACE_COMM | HOCKET_TRACE_CPU_ENTER | HOCKET_TRACE_FOLDED;
    if (now->num_folds > 0) {
        call->enter_ns = now->exit_ns; /* of the poll before */
        call->fields &= ~(uint32_t)HOCKET_TRACE_CPU_ENTER;
    }
    call->fold = way->fold;
    unsigned char* end = hocket_write_record(call);
    way->counts = end ? end - sizeof call->fold : NULL;
    now->window = hocket_file_window;
    ++now->num_folds;
}

void hocket_write_poll(struct call* call) {
    struct polling* now = &polling;
    struct thread* thread = &hocket_thread;
    if (!thread->polling || (now->num_folds > 0 && now->window != hocket_file_window)) begin_anew(now);
    thread->polling = 1;

    /* CPU time where it was not read: since the last reading the thread counts as running. */
    const int64_t gap_ns = call->enter_ns - now->exit_ns, exit_ns = call->exit_ns;
    const int64_t exit_cpu_ns = thread->cpu_ns + (exit_ns - thread->cpu_at_ns);
    const int64_t enter_cpu_ns = call->fields & HOCKET_TRACE_CPU_ENTER ? call->cpu_enter_ns : now->exit_cpu_ns + gap_ns;
    struct way* way = find_or_add(now, call);
    if (way) {
        ++way->fold.calls;
        way->fold.inside_ns += exit_ns - call->enter_ns;
        if (exit_cpu_ns > enter_cpu_ns) way->fold.inside_cpu_ns += exit_cpu_ns - enter_cpu_ns;
        if (now->num_folds > 0) {
            way->fold.outside_ns += gap_ns;
            if (enter_cpu_ns > now->exit_cpu_ns) way->fold.outside_cpu_ns += enter_cpu_ns - now->exit_cpu_ns;
        }
    }
    if (!way) {
        call->fields &= ~(uint32_t)HOCKET_TRACE_FOLDED;
        hocket_write_record(call);
    } else if (!way->counts) {
        begin_fold(now, way, call);
    } else {
        memcpy(way->counts, &way->fold, sizeof way->fold);
    }
    now->exit_ns = exit_ns;
    now->exit_cpu_ns = exit_cpu_ns;
}
