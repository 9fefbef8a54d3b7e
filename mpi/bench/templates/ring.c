/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* A pattern for hocket-bench: each rank sends a message to the next one and receives one from the one before. */

#include <mpi.h>
#include <stdlib.h>

#include "hocket_bench.h"

typedef struct {
    hocket_bench_setting setting;
    MPI_Comm comm;
    int next, before, count;
    uint64_t seed;
    unsigned char *sent, *received;
} pattern;

/* Byte `j` of what `rank` sends. */
static unsigned char byte_of(const pattern* p, int rank, int j) { return (unsigned char)(p->seed + 31 * rank + 7 * j); }

static int32_t failed(const pattern* p, int32_t status, const char* message) {
    p->setting.report(message);
    return status;
}

static int32_t finish(void* state) {
    pattern* p = state;
    free(p->sent);
    free(p->received);
    free(p);
    return HOCKET_BENCH_OK;
}

/* Once, before all: the buffers. */
static int32_t setup(const hocket_bench_setting* setting, void** state) {
    pattern* p = calloc(1, sizeof *p);
    if (p == NULL) return HOCKET_BENCH_ERROR;
    p->setting = *setting;
    p->comm = MPI_Comm_f2c(setting->comm);
    p->next = (setting->rank + 1) % setting->ranks;
    p->before = (setting->rank + setting->ranks - 1) % setting->ranks;
    p->count = (int)setting->bytes;
    p->sent = malloc((size_t)p->count + 1);
    p->received = malloc((size_t)p->count + 1);
    if (p->sent == NULL || p->received == NULL) return failed(p, HOCKET_BENCH_ERROR, "there is too little memory");
    *state = p;
    return HOCKET_BENCH_OK;
}

/* Before a run that is checked: other data with each seed, and nothing right in what is received. */
static int32_t prepare(void* state, uint64_t seed) {
    pattern* p = state;
    p->seed = seed;
    for (int j = 0; j < p->count; ++j) {
        p->sent[j] = byte_of(p, p->setting.rank, j);
        p->received[j] = (unsigned char)~byte_of(p, p->before, j);
    }
    return HOCKET_BENCH_OK;
}

/* What is measured. */
static int32_t run(void* state) {
    pattern* p = state;
    MPI_Request requests[2];
    if (MPI_Irecv(p->received, p->count, MPI_BYTE, p->before, 0, p->comm, &requests[0]) != MPI_SUCCESS ||
        MPI_Isend(p->sent, p->count, MPI_BYTE, p->next, 0, p->comm, &requests[1]) != MPI_SUCCESS ||
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
        return failed(p, HOCKET_BENCH_ERROR, "an MPI function failed");
    }
    return HOCKET_BENCH_OK;
}

/* After a run that is checked. */
static int32_t verify(void* state) {
    pattern* p = state;
    for (int j = 0; j < p->count; ++j) {
        if (p->received[j] != byte_of(p, p->before, j)) {
            return failed(p, HOCKET_BENCH_WRONG_DATA, "a message has arrived with other data");
        }
    }
    return HOCKET_BENCH_OK;
}

static int64_t bytes_moved(void* state) { return ((pattern*)state)->count; }

int32_t hocket_bench_plugin(hocket_bench_item* item) {
    if (item->struct_size < sizeof *item) return HOCKET_BENCH_UNSUPPORTED;
    item->name = "ring";
    item->what = "a message to the next rank";
    item->min_ranks = 2;
    item->is_batched = 1;
    item->setup = setup;
    item->prepare = prepare;
    item->run = run;
    item->verify = verify;
    item->finish = finish;
    item->bytes_moved = bytes_moved;
    return HOCKET_BENCH_OK;
}
