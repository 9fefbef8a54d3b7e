// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// An MPI of one process that makes the most of its freedom. EARLY_AND_LATE=early: an operation reads and writes its
// buffers when it starts. late: it spoils what it will write when it starts, and reads and writes its buffers in the
// wait for it. A program that is right with every MPI has the same result with both.
//
// What is "received" depends on what is sent and on the number of the operation, so that a wrong order is seen too.
// With EARLY_AND_LATE_EACH set, a broadcast or a reduction has no number and does the same with each element, as MPI's
// do: so it may go in parts.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING = 64 };

struct Operation {
    const void* sent;
    void* received;
    int sent_count, received_count, type, number, is_active, is_each;
};

static struct Operation pending[MAX_PENDING];
static int num_started;

static int is_late(void) {
    const char* mode = getenv("EARLY_AND_LATE");
    return mode != NULL && strcmp(mode, "late") == 0;
}

static void set(void* at, int type, int i, double value) {
    if (type == 8)
        ((double*)at)[i] = value;
    else
        ((int*)at)[i] = (int)value;
}

static double get(const void* at, int type, int i) {
    return type == 8 ? ((const double*)at)[i] : (double)((const int*)at)[i];
}

static void carry_out(const struct Operation* one) {
    double* values = malloc(sizeof(double) * (size_t)(one->received_count + 1));
    for (int i = 0; i < one->received_count && one->is_each; i++) {
        double value = get(one->sent, one->type, i) / 2 + 3;
        values[i] = one->type == 8 ? value : (double)((long)value % 100);
    }
    for (int i = 0; i < one->received_count && !one->is_each; i++) {
        double from = one->sent_count > 0 ? get(one->sent, one->type, (i + one->number) % one->sent_count) : i;
        double value = from / 2 + one->number % 7 + i % 3;
        values[i] = one->type == 8 ? value : (double)((long)value % 100);
    }
    for (int i = 0; i < one->received_count; i++) set(one->received, one->type, i, values[i]);
    free(values);
}

static int begin(const void* sent, int sent_count, void* received, int received_count, int type, int is_each) {
    int slot = 0;
    while (slot < MAX_PENDING && pending[slot].is_active) slot++;
    if (slot == MAX_PENDING) {
        fprintf(stderr, "too many operations are pending\n");
        exit(1);
    }
    pending[slot] =
        (struct Operation){sent, received, sent_count, received_count, type, is_each ? 0 : num_started++, 1, is_each};
    if (!is_late())
        carry_out(&pending[slot]);
    else if (sent != received)  // in place it is also sent
        for (int i = 0; i < received_count; i++) set(received, type, i, type == 8 ? 1e30 : 99999);
    return slot;
}

static int start(const void* sent, int sent_count, void* received, int received_count, int type) {
    return begin(sent, sent_count, received, received_count, type, 0);
}

static int start_each(const void* sent, void* received, int count, int type) {
    return begin(sent, count, received, count, type, getenv("EARLY_AND_LATE_EACH") != NULL);
}

static void wait(int slot) {
    if (slot < 0 || slot >= MAX_PENDING || !pending[slot].is_active) {
        fprintf(stderr, "a wait for what is not pending\n");
        exit(1);
    }
    if (is_late()) carry_out(&pending[slot]);
    pending[slot].is_active = 0;
}

void mpi_wait_(int* request, int* status, int* error) {
    (void)status;
    if (*request != -1) wait(*request);  // MPI_REQUEST_NULL
    *request = -1;
    *error = 0;
}

void num_pending_(int* count) {
    *count = 0;
    for (int i = 0; i < MAX_PENDING; i++) *count += pending[i].is_active;
}

void restart_(void) { num_started = 0; }

// NAME: blocking; iNAME: non-blocking, with the request before the error code.
#define BOTH(name, parameters, operation)                      \
    void mpi_##name##_ parameters(int* error) {                \
        wait(operation);                                       \
        *error = 0;                                            \
    }                                                          \
    void mpi_i##name##_ parameters(int* request, int* error) { \
        *request = operation;                                  \
        *error = 0;                                            \
    }
#define UNUSED(x) (void)(x)

#define BCAST(...) (void* b, int* n, int* t, int* root, int* comm, __VA_ARGS__)
BOTH(bcast, BCAST, (UNUSED(root), UNUSED(comm), start_each(b, b, *n, *t)))

#define ALLREDUCE(...) (void* s, void* r, int* n, int* t, int* op, int* comm, __VA_ARGS__)
BOTH(allreduce, ALLREDUCE, (UNUSED(op), UNUSED(comm), start_each(s, r, *n, *t)))

#define REDUCE(...) (void* s, void* r, int* n, int* t, int* op, int* root, int* comm, __VA_ARGS__)
BOTH(reduce, REDUCE, (UNUSED(op), UNUSED(root), UNUSED(comm), start_each(s, r, *n, *t)))

// As of three ranks: three blocks.
#define ALLTOALL(...) (void* s, int* n, int* t, void* r, int* m, int* u, int* comm, __VA_ARGS__)
BOTH(alltoall, ALLTOALL, (UNUSED(u), UNUSED(comm), start(s, 3 * *n, r, 3 * *m, *t)))
BOTH(allgather, ALLTOALL, (UNUSED(u), UNUSED(comm), start(s, *n, r, 3 * *m, *t)))

#define SEND(...) (void* b, int* n, int* t, int* peer, int* tag, int* comm, __VA_ARGS__)
BOTH(send, SEND, (UNUSED(peer), UNUSED(tag), UNUSED(comm), start(b, *n, b, 0, *t)))

void mpi_recv_(void* b, int* n, int* t, int* peer, int* tag, int* comm, int* status, int* error) {
    UNUSED(peer), UNUSED(tag), UNUSED(comm), UNUSED(status);
    wait(start(b, 0, b, *n, *t));
    *error = 0;
}
void mpi_irecv_(void* b, int* n, int* t, int* peer, int* tag, int* comm, int* request, int* error) {
    UNUSED(peer), UNUSED(tag), UNUSED(comm);
    *request = start(b, 0, b, *n, *t);
    *error = 0;
}

void mpi_f_sync_reg_(void* buffer) { UNUSED(buffer); }

void mpi_sendrecv_(void* s, int* n, int* t, int* dest, int* tag, void* r, int* m, int* u, int* source, int* other_tag,
                   int* comm, int* status, int* error) {
    UNUSED(dest), UNUSED(tag), UNUSED(source), UNUSED(other_tag), UNUSED(comm), UNUSED(status);
    int send = start(s, *n, s, 0, *t);
    wait(start(r, 0, r, *m, *u));
    wait(send);
    *error = 0;
}
