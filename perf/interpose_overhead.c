/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* What a call costs that the plan does not reroute, and one that it does, in nanoseconds. One rank, so that the call
 * itself is short; the MPI's own function and the interposed one in turn; the 10th percentile of many short batches,
 * since the machine may be busy.
 *
 *   mpicc -O2 perf/interpose_overhead.c -o overhead -ldl
 *   HOCKET_PLAN=plan.json HOCKET_SELF_CHECK=off LD_PRELOAD=libhocket_interpose.so ./overhead
 *
 * with a plan for 1 rank that has entries for bcast and allgather of members [0] with 1000 to 2000 bytes and none for
 * allreduce. The self-check would let the calls that the plan serves fall back. The last two rows are of non-blocking
 * calls, with HOCKET_PROGRESS=off, on or auto. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batches = 4000, calls = 100 };

static int (*native_bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
static int (*native_allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int (*native_iallreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
static int (*native_allgatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm);
static int (*native_isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static int (*native_irecv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static int (*native_wait)(MPI_Request*, MPI_Status*);
static int (*native_waitall)(int, MPI_Request*, MPI_Status*);
static MPI_Comm comms[2];
static MPI_Datatype derived;
static int buffer[64], result[64];
static char message[1500];

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void absent_native(int i) { (void)i, native_allreduce(buffer, result, 1, MPI_INT, MPI_SUM, comms[0]); }
static void absent_interposed(int i) { (void)i, MPI_Allreduce(buffer, result, 1, MPI_INT, MPI_SUM, comms[0]); }
static void other_native(int i) { (void)i, native_bcast(buffer, 8, MPI_INT, 0, comms[0]); }
static void other_interposed(int i) { (void)i, MPI_Bcast(buffer, 8, MPI_INT, 0, comms[0]); }
static void rerouted_native(int i) { (void)i, native_bcast(message, sizeof message, MPI_BYTE, 0, comms[0]); }
static void rerouted_interposed(int i) { (void)i, MPI_Bcast(message, sizeof message, MPI_BYTE, 0, comms[0]); }
static void derived_native(int i) { (void)i, native_bcast(buffer, 1, derived, 0, comms[0]); }
static void derived_interposed(int i) { (void)i, MPI_Bcast(buffer, 1, derived, 0, comms[0]); }
static void alternating_native(int i) { native_bcast(buffer, 8, MPI_INT, 0, comms[i & 1]); }
static void alternating_interposed(int i) { MPI_Bcast(buffer, 8, MPI_INT, 0, comms[i & 1]); }
static const int gathered = 8, place = 0;
static void uneven_native(int i) {
    (void)i, native_allgatherv(buffer, 8, MPI_INT, result, &gathered, &place, MPI_INT, comms[0]);
}
static void uneven_interposed(int i) {
    (void)i, MPI_Allgatherv(buffer, 8, MPI_INT, result, &gathered, &place, MPI_INT, comms[0]);
}
static void collective_native(int i) {
    MPI_Request request;
    (void)i, native_iallreduce(buffer, result, 1, MPI_INT, MPI_SUM, comms[0], &request);
    native_wait(&request, MPI_STATUS_IGNORE);
}
static void collective_interposed(int i) {
    MPI_Request request;
    (void)i, MPI_Iallreduce(buffer, result, 1, MPI_INT, MPI_SUM, comms[0], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void message_native(int i) {
    MPI_Request requests[2];
    (void)i, native_irecv(result, 8, MPI_INT, 0, 0, comms[0], &requests[0]);
    native_isend(buffer, 8, MPI_INT, 0, 0, comms[0], &requests[1]);
    native_waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void message_interposed(int i) {
    MPI_Request requests[2];
    (void)i, MPI_Irecv(result, 8, MPI_INT, 0, 0, comms[0], &requests[0]);
    MPI_Isend(buffer, 8, MPI_INT, 0, 0, comms[0], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void measure(const char* name, void (*native)(int), void (*interposed)(int)) {
    static double took[2][batches];
    for (int b = 0; b < batches; ++b) {
        void (*const call[2])(int) = {native, interposed};
        for (int k = 0; k < 2; ++k) {
            const double begin = now_ns();
            for (int i = 0; i < calls; ++i) call[k](i);
            took[k][b] = (now_ns() - begin) / calls;
        }
    }
    for (int k = 0; k < 2; ++k) qsort(took[k], batches, sizeof(double), compare);
    const double native_ns = took[0][batches / 10], interposed_ns = took[1][batches / 10];
    printf("%-44s native %7.1f ns, interposed %7.1f ns, added %6.1f ns\n", name, native_ns, interposed_ns,
           interposed_ns - native_ns);
}

int main(int argc, char** argv) {
    Dl_info info;
    MPI_Init(&argc, &argv);
    dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_rank"), &info);
    void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) return 1;
    *(void**)&native_bcast = dlsym(library, "PMPI_Bcast");
    *(void**)&native_allreduce = dlsym(library, "PMPI_Allreduce");
    *(void**)&native_iallreduce = dlsym(library, "PMPI_Iallreduce");
    *(void**)&native_allgatherv = dlsym(library, "PMPI_Allgatherv");
    *(void**)&native_isend = dlsym(library, "PMPI_Isend");
    *(void**)&native_irecv = dlsym(library, "PMPI_Irecv");
    *(void**)&native_wait = dlsym(library, "PMPI_Wait");
    *(void**)&native_waitall = dlsym(library, "PMPI_Waitall");
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Type_vector(4, 1, 2, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    printf("%s\n", native_bcast == MPI_Bcast ? "nothing is preloaded" : "preloaded");
    measure("collective absent from the plan", absent_native, absent_interposed);
    measure("collective in the plan with other bytes", other_native, other_interposed);
    measure("the same with a derived datatype", derived_native, derived_interposed);
    measure("the same on two communicators in turn", alternating_native, alternating_interposed);
    measure("Allgatherv, in the plan with other bytes", uneven_native, uneven_interposed);
    measure("collective that the plan serves", rerouted_native, rerouted_interposed);
    measure("Iallreduce and Wait, 2 calls", collective_native, collective_interposed);
    measure("Irecv, Isend and Waitall, 3 calls", message_native, message_interposed);
    MPI_Type_free(&derived);
    MPI_Comm_free(&comms[1]);
    MPI_Finalize();
    return 0;
}
