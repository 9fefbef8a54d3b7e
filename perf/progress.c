/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* A program that starts communication, computes and waits, and never tests. Arguments: alltoall, allreduce or messages
 * (with each other rank); bytes of a block; free-core or real; repetitions; calls before them, not counted; the
 * computation's work, or 0: as long as the communication. Prints "work W", then "communication computation total
 * compute-cpu cpu", in seconds, for each repetition. All data are checked.
 *
 * Communication is that of the MPI's own functions, alone, behind any library that is preloaded; total is of the
 * program's calls. CPU time is that of all threads of a rank, of the computation alone and of all. Times are from a
 * common start until the last rank is done [Hunold16]; ranks must share one clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_iterations = 200, calibrating = 11, rows = 1000, columns = 4000 };

/* Then even those have woken up that are late: ranks that spin in the MPI_Allreduce would keep them from their
 * cores. */
static const double after_s = 0.002;
static const double least_iteration_s = 50e-6, least_window_s = 0.01;

static struct {
    int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*);
    int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
    int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    int (*receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
    int (*wait)(MPI_Request*, MPI_Status*);
    int (*wait_all)(int, MPI_Request*, MPI_Status*);
} native, program = {MPI_Ialltoall, MPI_Iallreduce, MPI_Isend, MPI_Irecv, MPI_Wait, MPI_Waitall}, *calls;

static int rank, size, count, is_real, *from, *to, num_requests;
static enum { alltoall, allreduce, messages } kind;
static MPI_Request* requests;
static double *matrix, *vector, *product, work;

static double now_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void nap(double duration_s) {
    const struct timespec length = {(time_t)duration_s, (long)(1e9 * (duration_s - (double)(time_t)duration_s))};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

/* 32 MB of rows over and over. */
static void multiply(void) {
    for (long row = 0; row < (long)work; ++row) {
        const double* const factors = matrix + row % rows * columns;
        double sum = 0;
        for (int column = 0; column < columns; ++column) sum += factors[column] * vector[column];
        product[row % rows] = sum;
    }
}

/* A computation with a core of its own. A nap that was too long is made good in the next one: it is an amount of sleep,
 * not a deadline, which would absorb what others take from it. */
static void sleep_in_turns(void) {
    const double wanted = work / least_iteration_s;
    const int iterations = wanted < 1 ? 1 : wanted > most_iterations ? most_iterations : (int)wanted;
    double slept_s = 0;
    for (int i = 1; i <= iterations; ++i) {
        const double begin_s = now_s(CLOCK_MONOTONIC), rest_s = work * i / iterations - slept_s;
        if (rest_s > 0) nap(rest_s), slept_s += now_s(CLOCK_MONOTONIC) - begin_s;
    }
}

static void compute(void) {
    if (is_real)
        multiply();
    else
        sleep_in_turns();
}

static int value(int source, int target, int i, int turn) { return (source * 4099 + target * 257 + i + turn) & 0xffff; }

static void fill(int turn) {
    for (int target = 0; target < size; ++target)
        for (int i = 0; i < count; ++i) {
            from[target * count + i] = value(rank, kind == allreduce ? 0 : target, i, turn);
            to[target * count + i] = -1;
        }
    if (kind == messages) memcpy(to + rank * count, from + rank * count, (size_t)count * sizeof *to);
}

static void check(int turn) {
    for (int source = 0; source < (kind == allreduce ? 1 : size); ++source)
        for (int i = 0; i < count; ++i) {
            int expected = kind == allreduce ? 0 : value(source, rank, i, turn);
            for (int other = 0; kind == allreduce && other < size; ++other) expected += value(other, 0, i, turn);
            if (to[source * count + i] == expected) continue;
            fprintf(stderr, "rank %d has wrong data from rank %d\n", rank, source);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void start(void) {
    num_requests = 0;
    if (kind == alltoall) {
        calls->alltoall(from, count, MPI_INT, to, count, MPI_INT, MPI_COMM_WORLD, &requests[num_requests++]);
    } else if (kind == allreduce) {
        calls->allreduce(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[num_requests++]);
    } else {
        for (int i = 1; i < size; ++i) {
            const int peer = (rank + size - i) % size;
            calls->receive(to + peer * count, count, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[num_requests++]);
        }
        for (int i = 1; i < size; ++i) {
            const int peer = (rank + i) % size;
            calls->send(from + peer * count, count, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[num_requests++]);
        }
    }
}

static void finish(void) {
    if (kind == messages)
        calls->wait_all(num_requests, requests, MPI_STATUSES_IGNORE);
    else
        calls->wait(requests, MPI_STATUS_IGNORE);
}

/* Of the slowest rank. `cpu_s`: mean of the ranks. Again from the beginning if a rank learnt of the start too late. */
static double timed_s(int communicates, int computes, double* cpu_s) {
    static int turn;
    double window_s = least_window_s;
    for (;; window_s *= 2) {
        if (communicates) fill(++turn);
        double start_s = now_s(CLOCK_MONOTONIC) + window_s;
        MPI_Bcast(&start_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        const double rest_s = start_s - now_s(CLOCK_MONOTONIC);
        if (rest_s > 0) nap(rest_s);
        const double before_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
        if (communicates) start();
        if (computes) compute();
        if (communicates) finish();
        double own_s[2] = {now_s(CLOCK_MONOTONIC) - start_s, -rest_s}, longest_s[2];
        double used_s = (now_s(CLOCK_PROCESS_CPUTIME_ID) - before_s) / size;
        nap(after_s);
        MPI_Allreduce(own_s, longest_s, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&used_s, cpu_s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (communicates) check(turn);
        if (longest_s[1] < 0) return longest_s[0];
    }
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* As long as the communication; of a real computation by its CPU time, which other processes on its cores do not
 * lengthen. */
static double calibrated_work(void) {
    double times_s[calibrating], cpu_s;
    for (int i = 0; i < calibrating; ++i) times_s[i] = timed_s(1, 0, &cpu_s);
    qsort(times_s, calibrating, sizeof *times_s, compare);
    const double wanted_s = times_s[calibrating / 2];
    if (!is_real) return wanted_s;
    work = rows;
    for (int i = 0; i < calibrating; ++i) {
        timed_s(0, 1, &cpu_s);
        times_s[i] = cpu_s / work;
        work = wanted_s / times_s[i];
    }
    qsort(times_s, calibrating, sizeof *times_s, compare);
    return wanted_s / times_s[calibrating / 2];
}

static int find_native(void) {
    Dl_info info;
    if (dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_rank"), &info) == 0) return 0;
    void* const library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) return 0;
    *(void**)&native.alltoall = dlsym(library, "PMPI_Ialltoall");
    *(void**)&native.allreduce = dlsym(library, "PMPI_Iallreduce");
    *(void**)&native.send = dlsym(library, "PMPI_Isend");
    *(void**)&native.receive = dlsym(library, "PMPI_Irecv");
    *(void**)&native.wait = dlsym(library, "PMPI_Wait");
    *(void**)&native.wait_all = dlsym(library, "PMPI_Waitall");
    return native.alltoall && native.allreduce && native.send && native.receive && native.wait && native.wait_all;
}

int main(int argc, char** argv) {
    if (argc != 7) return 2;
    const int repetitions = atoi(argv[4]), warm_ups = atoi(argv[5]);
    kind = strcmp(argv[1], "alltoall") == 0 ? alltoall : strcmp(argv[1], "allreduce") == 0 ? allreduce : messages;
    count = atoi(argv[2]) / (int)sizeof *from;
    is_real = strcmp(argv[3], "real") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    from = malloc((size_t)size * (size_t)count * sizeof *from);
    to = malloc((size_t)size * (size_t)count * sizeof *to);
    requests = malloc(2 * (size_t)size * sizeof *requests);
    matrix = malloc((is_real ? sizeof *matrix : 0) * rows * columns + 1);
    vector = calloc(columns, sizeof *vector);
    product = calloc(rows, sizeof *product);
    if (count < 1 || !from || !to || !requests || !matrix || !vector || !product || !find_native()) {
        fprintf(stderr, "no memory, no bytes, or a static MPI\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (long i = 0; is_real && i < (long)rows * columns; ++i) matrix[i] = 1;
    calls = &native;
    work = atof(argv[6]);
    if (work <= 0) work = calibrated_work();
    MPI_Bcast(&work, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("work %.9g\n", work);
    double cpu_s;
    calls = &program;
    for (int i = 0; i < warm_ups; ++i) timed_s(1, 1, &cpu_s);
    for (int i = 0; i < repetitions; ++i) {
        calls = &native;
        double compute_cpu_s;
        const double communication_s = timed_s(1, 0, &cpu_s), compute_s = timed_s(0, 1, &compute_cpu_s);
        calls = &program;
        const double total_s = timed_s(1, 1, &cpu_s);
        if (rank == 0) printf("%.6f %.6f %.6f %.6f %.6f\n", communication_s, compute_s, total_s, compute_cpu_s, cpu_s);
    }
    free(from);
    free(to);
    free(requests);
    free(matrix);
    free(vector);
    free(product);
    MPI_Finalize();
    return 0;
}
