// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What the programs of this folder share: arguments, memory, random numbers, sums that do not depend on their order.

#ifndef HOCKET_PERF_PROGRAMS_COMMON_H
#define HOCKET_PERF_PROGRAMS_COMMON_H

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A program ends on all ranks alike where its input is wrong: each rank finds the same.
static inline void refuse(const char* message) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fprintf(stderr, "error: %s\n", message);
    }
    MPI_Finalize();
    exit(2);
}

// The whole number that stands at place `index` of the command line, or `usual` where there is none.
static inline int64_t number_argument(int argc, char** argv, int index, const char* name, int64_t usual, int64_t least,
                                      int64_t most) {
    if (index >= argc) {
        return usual;
    }
    char* end = NULL;
    const long long value = strtoll(argv[index], &end, 10);
    if (end == argv[index] || *end != '\0' || value < least || value > most) {
        char message[300];
        snprintf(message, sizeof message, "%s: found '%.60s', accepted is a whole number from %lld to %lld", name,
                 argv[index], (long long)least, (long long)most);
        refuse(message);
    }
    return value;
}

static inline void* allocate(size_t count, size_t size) {
    void* memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        fprintf(stderr, "error: no memory for %zu elements of %zu bytes; choose a smaller size\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

// splitmix64: each value is a function of seed and place alone, so that any rank can make any of them.
static inline uint64_t random_at(uint64_t seed, uint64_t place) {
    uint64_t z = (place + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1342543de82ef95);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// In [0, 1).
static inline double uniform_at(uint64_t seed, uint64_t place) {
    return (double)(random_at(seed, place) >> 11) * 0x1p-53;
}

// A multiple of 2^-24. Sums of such numbers are exact in a double up to 2^29, in whatever order they are added.
static inline double fixed_point(double value) { return nearbyint(value * 0x1p24) * 0x1p-24; }

// FNV-1a over the bytes; begin with `hash_start`.
static const uint64_t hash_start = UINT64_C(14695981039346656037);
static inline uint64_t hash_bytes(uint64_t hash, const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ ((const unsigned char*)data)[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

// Combines the hashes of the ranks in their order; 0 but on the root.
static inline uint64_t hash_of_ranks(uint64_t own, int root) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t* all = (uint64_t*)allocate((size_t)ranks, sizeof *all);
    MPI_Gather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    const uint64_t hash = hash_bytes(hash_start, all, (size_t)ranks * sizeof *all);
    free(all);
    return rank == root ? hash : 0;
}

// 1 if `ok` is so on every rank.
static inline int everywhere(int ok) {
    int all = 0;
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

// The largest divisor of `ranks` that is not above its square root: the rows of a process grid.
static inline int grid_rows(int ranks) {
    int rows = 1;
    for (int i = 1; i * i <= ranks; ++i) {
        if (ranks % i == 0) {
            rows = i;
        }
    }
    return rows;
}

#endif
