// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// libhocket_workaround.so, for MPICH 5.0 and later over UCX on several hosts that Slurm started with --mpi=pmi2. There
// MPI_Init gives the launcher 4096 bytes from the begin of its UCX address, whatever follows the address in memory
// (MPIDI_UCX_comm_addr_exchange), as text in which zeros are short, in requests of up to 1100 bytes. Slurm takes the
// first 1024 for the whole request (handle_pmi1_cmd): "mpi/pmi2: invalid client request". With zeros behind the address
// the requests are short.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { SENT_BYTES = 4096, NO_MEMORY = -4, UNSUPPORTED = -22 };  // MPICH's MPID_MAX_BC_SIZE; UCX's errors
typedef signed char Status;                                     // UCX's ucs_status_t; 0: OK

struct Copy {
    struct Copy* next;
    char address[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct Copy* copies = NULL;  // what ucp_worker_get_address has given

static void release_theirs(void* worker, void* address) {
    void (*release)(void*, void*) = NULL;
    *(void**)&release = dlsym(RTLD_NEXT, "ucp_worker_release_address");
    if (release) release(worker, address);
}

/// UCX: allocates `*address` of `*length` bytes, by which others reach the worker.
EXPORTED Status ucp_worker_get_address(void* worker, void** address, size_t* length);
EXPORTED Status ucp_worker_get_address(void* worker, void** address, size_t* length) {
    Status (*get)(void*, void**, size_t*) = NULL;
    *(void**)&get = dlsym(RTLD_NEXT, "ucp_worker_get_address");
    if (!get) return UNSUPPORTED;
    void* theirs = NULL;
    const Status status = get(worker, &theirs, length);
    if (status != 0) return status;
    struct Copy* const copy = calloc(1, sizeof *copy + *length + SENT_BYTES);
    if (copy) memcpy(copy->address, theirs, *length);
    release_theirs(worker, theirs);
    if (!copy) return NO_MEMORY;
    pthread_mutex_lock(&lock);
    copy->next = copies;
    copies = copy;
    pthread_mutex_unlock(&lock);
    *address = copy->address;
    return status;
}

EXPORTED void ucp_worker_release_address(void* worker, void* address);
EXPORTED void ucp_worker_release_address(void* worker, void* address) {
    pthread_mutex_lock(&lock);
    struct Copy** place = &copies;
    while (*place && (*place)->address != address) place = &(*place)->next;
    struct Copy* const copy = *place;
    if (copy) *place = copy->next;
    pthread_mutex_unlock(&lock);
    if (copy)
        free(copy);
    else
        release_theirs(worker, address);
}
