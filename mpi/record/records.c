/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The records of calls and of the end, as they stand in the file. All under the lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hocket/trace/coder.h"
#include "record.h"

static struct hocket_trace_coder coder;
static unsigned char texts[HOCKET_TRACE_TEXTS];

/* Of the call at hand; it grows. */
static struct {
    unsigned char* bytes;
    size_t capacity;
} scratch;

void hocket_forget_records(void) {
    hocket_forget_names();
    memset(&coder, 0, sizeof coder);
}

void hocket_stop(enum hocket_trace_end end) {
    if (!hocket_state.active || hocket_state.owner != (int)getpid()) return;
    hocket_state.active = 0;
    unsigned char* to = hocket_begin_definition(HOCKET_TRACE_FOOTER, HOCKET_TRACE_NONE16, 12);
    if (to) {
        const uint32_t reason = end;
        memcpy(to, &reason, 4);
        memcpy(to + 4, &hocket_state.num_calls, 8);
        hocket_file_commit(to + 12);
    }
    hocket_file_close();
}

static unsigned char* put_counts(unsigned char* to, const struct counts* counts) {
    to = hocket_trace_put(to, (uint64_t)counts->n);
    const int64_t size = counts->types ? 0 : hocket_type_bytes(counts->type, NULL);
    for (int i = 0; i < counts->n; ++i) {
        const int64_t count = hocket_count_at(counts, i);
        /* The type of an empty block may be anything. */
        const int64_t bytes =
            count == 0 ? 0 : count * (counts->types ? hocket_type_bytes(counts->types[i], NULL) : size);
        to = hocket_trace_put_signed(to, bytes);
    }
    return to;
}

static unsigned char* put_completions(unsigned char* to, const struct call* call) {
    to = hocket_trace_put(to, call->num_requests);
    for (uint32_t i = 0; i < call->num_requests; ++i) {
        const struct hocket_trace_completion* done = &call->requests[i];
        to = hocket_trace_put_request(&coder.requests, to, done->request);
        to = hocket_trace_put_signed(to, done->source);
        to = hocket_trace_put_signed(to, done->tag);
        to = hocket_trace_put_signed(to, done->bytes);
    }
    return to;
}

#define PUT(bit, member) \
    if (fields & (bit)) to = hocket_trace_put(to, call->member)
#define PUT_SIGNED(bit, member) \
    if (fields & (bit)) to = hocket_trace_put_signed(to, call->member)

static unsigned char* put_signature(unsigned char* to, const struct call* call) {
    enum { TIMES = HOCKET_TRACE_CPU_ENTER | HOCKET_TRACE_CPU_EXIT | HOCKET_TRACE_FOLDED };
    const uint32_t fields = call->fields & ~(uint32_t)TIMES;
    to = hocket_trace_put(to, call->function);
    to = hocket_trace_put(to, call->flags);
    to = hocket_trace_put(to, fields);
    PUT(HOCKET_TRACE_COMM, communicator);
    PUT_SIGNED(HOCKET_TRACE_BYTES, bytes);
    PUT(HOCKET_TRACE_TYPE, datatype);
    PUT_SIGNED(HOCKET_TRACE_ROOT, root);
    PUT(HOCKET_TRACE_OP, operator_);
    PUT_SIGNED(HOCKET_TRACE_PEER, peer);
    PUT_SIGNED(HOCKET_TRACE_PEER, tag);
    PUT_SIGNED(HOCKET_TRACE_RECEIVE, receive_peer);
    PUT_SIGNED(HOCKET_TRACE_RECEIVE, receive_tag);
    PUT_SIGNED(HOCKET_TRACE_RECEIVE, receive_bytes);
    PUT_SIGNED(HOCKET_TRACE_STATUS, status_source);
    PUT_SIGNED(HOCKET_TRACE_STATUS, status_tag);
    PUT_SIGNED(HOCKET_TRACE_STATUS, status_bytes);
    if (fields & HOCKET_TRACE_REQUEST) to = hocket_trace_put_request(&coder.requests, to, call->request);
    if (fields & HOCKET_TRACE_REQUESTS) to = put_completions(to, call);
    if (fields & HOCKET_TRACE_SEND_BYTES) to = put_counts(to, &call->sends);
    if (fields & HOCKET_TRACE_RECEIVE_BYTES) to = put_counts(to, &call->receives);
    PUT(HOCKET_TRACE_NEW_COMM, new_communicator);
    PUT_SIGNED(HOCKET_TRACE_WINDOW, window);
    PUT_SIGNED(HOCKET_TRACE_FILE, file);
    PUT_SIGNED(HOCKET_TRACE_ERROR, error);
    return to;
}

/* Bytes of the signature, at most. */
static size_t most_of_signature(const struct call* call) {
    size_t most = HOCKET_TRACE_MOST_SCALARS;
    if (call->fields & HOCKET_TRACE_REQUESTS) most += call->num_requests * (size_t)HOCKET_TRACE_MOST_COMPLETION;
    if (call->fields & HOCKET_TRACE_SEND_BYTES) most += (size_t)call->sends.n * HOCKET_TRACE_MOST_VARINT;
    if (call->fields & HOCKET_TRACE_RECEIVE_BYTES) most += (size_t)call->receives.n * HOCKET_TRACE_MOST_VARINT;
    return most;
}

static int make_scratch(size_t bytes) {
    if (bytes <= scratch.capacity) return 1;
    unsigned char* grown = realloc(scratch.bytes, 2 * bytes);
    if (!grown) return 0;
    scratch.bytes = grown;
    scratch.capacity = 2 * bytes;
    return 1;
}

static void add_requests(const struct call* call) {
    if (call->fields & HOCKET_TRACE_REQUEST) hocket_trace_add_request(&coder.requests, call->request, call->flags);
    /* Without a request of its own, a call has the first of those that it completed. */
    else if ((call->fields & HOCKET_TRACE_REQUESTS) && call->num_requests > 0)
        hocket_trace_add_request(&coder.requests, call->requests[0].request, call->flags);
    if (call->fields & HOCKET_TRACE_REQUESTS) {
        for (uint32_t i = 0; i < call->num_requests; ++i)
            hocket_trace_add_request(&coder.requests, call->requests[i].request, 0);
    }
}

static unsigned char* no_space(void) {
    fprintf(stderr, "hocket: rank %d: no space left for the trace; recording ends here, the program goes on\n",
            hocket_state.rank);
    hocket_stop(HOCKET_TRACE_END_EXIT);
    return NULL;
}

unsigned char* hocket_write_record(const struct call* call) {
    if (!hocket_is_named(call->function)) hocket_name_function(call->function);
    coder.texts = texts;
    if (!make_scratch(most_of_signature(call))) return no_space();
    const uint32_t length = (uint32_t)(put_signature(scratch.bytes, call) - scratch.bytes);
    const size_t most = length + HOCKET_TRACE_MOST_BESIDE;
    if (hocket_file_bytes() + most > hocket_state.limit_bytes) {
        hocket_stop(HOCKET_TRACE_END_LIMIT); /* hocket reports it when the program has ended, once for all ranks */
        return NULL;
    }
    unsigned char* to = hocket_file_reserve(most);
    if (!to) return no_space();
    const struct hocket_trace_times times = {.enter_ns = call->enter_ns,
                                             .exit_ns = call->exit_ns,
                                             .cpu_enter_ns = call->cpu_enter_ns,
                                             .cpu_exit_ns = call->cpu_exit_ns,
                                             .fields = call->fields,
                                             .thread = (uint16_t)hocket_thread.number,
                                             .fold = &call->fold};
    to = hocket_trace_put_call(&coder, to, &times, scratch.bytes, length);
    add_requests(call);
    ++hocket_state.num_calls;
    hocket_file_commit(to);
    return to;
}
