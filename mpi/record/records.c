/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The records of functions, of calls and of the end, as they stand in the file. All under the lock. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

unsigned char hocket_named[HOCKET_TRACE_NONE16 / 8 + 1];

static unsigned char* put(unsigned char* to, const void* from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

void hocket_name_function(uint16_t function) {
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
    hocket_named[function / 8] = (unsigned char)(hocket_named[function / 8] | (1u << (function % 8)));
}

void hocket_forget_names(void) { memset(hocket_named, 0, sizeof hocket_named); }

void hocket_stop(enum hocket_trace_end end) {
    if (!hocket_state.active || hocket_state.owner != (int)getpid()) return;
    hocket_state.active = 0;
    unsigned char* record = hocket_file_reserve(24);
    if (record) {
        const uint16_t kind = HOCKET_TRACE_FOOTER, none = HOCKET_TRACE_NONE16;
        const uint32_t reason = end;
        memset(record + 4, 0, 20);
        memcpy(record + 4, &kind, 2);
        memcpy(record + 6, &none, 2);
        memcpy(record + 8, &reason, 4);
        memcpy(record + 12, &hocket_state.num_calls, 8);
        hocket_file_commit(24);
    }
    hocket_file_close();
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
    if (!hocket_is_named(call->function)) hocket_name_function(call->function);
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
