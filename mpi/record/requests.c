/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Requests get numbers that are never used again, unlike their handles. */
#include <stdlib.h>

#include "record.h"

static struct table requests;
static struct table partitions; /* number of a request -> bytes of each of its partitions */

void hocket_new_request(struct call* call, MPI_Request request, uint32_t kind) {
    if (request == MPI_REQUEST_NULL) return;
    call->request = ++hocket_state.next_request;
    call->fields |= HOCKET_TRACE_REQUEST;
    if (kind & REQUEST_PERSISTENT) call->flags |= HOCKET_TRACE_PERSISTENT;
    hocket_table_insert(&requests, KEY(request), call->request, kind);
}

void hocket_name_request(struct call* call, MPI_Request request) {
    const struct entry* entry = hocket_table_find(&requests, KEY(request));
    if (!entry) return;
    call->request = entry->value;
    call->fields |= HOCKET_TRACE_REQUEST;
}

void hocket_partitions(struct call* call, int64_t partition_bytes) {
    if (call->fields & HOCKET_TRACE_REQUEST)
        hocket_table_insert(&partitions, call->request, (uint64_t)partition_bytes, 0);
}

void hocket_ready(struct call* call, MPI_Request request, int64_t number) {
    hocket_name_request(call, request);
    const struct entry* entry =
        call->fields & HOCKET_TRACE_REQUEST ? hocket_table_find(&partitions, call->request) : NULL;
    if (!entry) return;
    call->bytes = number * (int64_t)entry->value;
    call->fields |= HOCKET_TRACE_BYTES;
}

void hocket_forget_request(struct call* call, uint64_t key) {
    struct entry* entry = hocket_table_find(&requests, key);
    if (!entry) return;
    call->request = entry->value;
    call->fields |= HOCKET_TRACE_REQUEST;
    hocket_table_remove(&requests, entry);
    struct entry* partition = hocket_table_find(&partitions, call->request);
    if (partition) hocket_table_remove(&partitions, partition);
}

MPI_Status* hocket_batch_begin(struct batch* batch, int n, const MPI_Request* handles, MPI_Status* statuses,
                               MPI_Status* ignore) {
    batch->n = n > 0 ? n : 0;
    batch->has_receive = 0;
    batch->heap = NULL;
    batch->known = batch->known_here;
    batch->done = batch->done_here;
    batch->statuses = batch->statuses_here;
    if (n > 8) {
        const size_t each = sizeof(struct known) + sizeof(struct hocket_trace_completion) + sizeof(MPI_Status);
        batch->heap = malloc((size_t)n * each);
        if (!batch->heap) {
            batch->n = 0;
            return statuses;
        }
        batch->known = batch->heap;
        batch->done = (void*)(batch->known + n);
        batch->statuses = (void*)(batch->done + n);
    }
    pthread_mutex_lock(&hocket_state.lock);
    for (int i = 0; i < batch->n; ++i) {
        const struct entry* entry =
            handles[i] == MPI_REQUEST_NULL ? NULL : hocket_table_find(&requests, KEY(handles[i]));
        batch->known[i] = entry ? (struct known){entry->key, entry->value, entry->kind} : (struct known){0, 0, 0};
        if (batch->known[i].kind & REQUEST_RECEIVE) batch->has_receive = 1;
    }
    pthread_mutex_unlock(&hocket_state.lock);
    return batch->has_receive && statuses == ignore ? batch->statuses : statuses;
}

static struct hocket_trace_completion completion_of(const struct known* known, const MPI_Status* status) {
    struct hocket_trace_completion done = {known->id, -1, -1, -1};
    if ((known->kind & REQUEST_RECEIVE) && status) {
        struct call seen = {0};
        hocket_status(&seen, status);
        done.source = seen.status_source;
        done.tag = seen.status_tag;
        done.bytes = seen.status_bytes;
    }
    return done;
}

/* Handles that complete at once share a value, so two requests of a batch may have found one entry: each takes the
 * oldest entry that is left. */
static void retire(struct known* known) {
    if (!known->id) return;
    struct entry* entry = hocket_table_find(&requests, known->key);
    if (!entry) return;
    known->id = entry->value;
    if (!(entry->kind & REQUEST_PERSISTENT)) hocket_table_remove(&requests, entry);
}

/* `indices` is NULL where requests 0..num_done-1 are meant. */
void hocket_batch_end(struct batch* batch, struct call* call, int num_done, const int* indices,
                      const MPI_Status* statuses) {
    uint32_t m = 0;
    for (int k = 0; k < num_done && k < batch->n; ++k) {
        const int i = indices ? indices[k] : k;
        if (i < 0 || i >= batch->n || !batch->known[i].id) continue;
        retire(&batch->known[i]);
        batch->done[m++] = completion_of(&batch->known[i], batch->has_receive ? &statuses[k] : NULL);
    }
    if (m == 0) return;
    call->requests = batch->done;
    call->num_requests = m;
    call->fields |= HOCKET_TRACE_REQUESTS;
}

void hocket_batch_started(struct batch* batch, struct call* call) {
    uint32_t m = 0;
    for (int i = 0; i < batch->n; ++i) {
        if (batch->known[i].id) batch->done[m++] = completion_of(&batch->known[i], NULL);
    }
    if (m == 0) return;
    call->requests = batch->done;
    call->num_requests = m;
    call->fields |= HOCKET_TRACE_REQUESTS;
}

void hocket_batch_free(struct batch* batch) { free(batch->heap); }
