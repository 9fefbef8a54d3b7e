// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Many communicators: random halves of the ranks, each made, used for a few collectives of random sizes and roots, and
// freed, as in solvers that refine their grids. Sums of whole numbers are checked, so that all schedules give the same.
//
// Usage: communicators COUNT [SEED [CALLS]]   CALLS: of each collective on each communicator

#include "common.h"

enum { most = 20000 };  // numbers in a message

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t count = number_argument(argc, argv, 1, "COUNT", 1000, 1, 1000000);
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 2, "SEED", 1, 0, INT32_MAX);
    const int64_t calls = number_argument(argc, argv, 3, "CALLS", 3, 1, 1000000);
    int64_t* mine = allocate(most, sizeof *mine);
    int64_t* sums = allocate(most, sizeof *sums);
    int64_t* all = allocate((size_t)most * (size_t)ranks, sizeof *all);
    int64_t wrong = 0;
    const double begin = MPI_Wtime();
    for (int64_t i = 0; i < count; ++i) {
        MPI_Comm half = MPI_COMM_NULL;
        const uint64_t place = (uint64_t)(i * ranks + rank);
        const uint64_t key = random_at(seed + 1, place);
        MPI_Comm_split(MPI_COMM_WORLD, (int)(random_at(seed, place) % 2), (int)(key % 1024), &half);
        int members = 0, number = 0;
        MPI_Comm_size(half, &members);
        MPI_Comm_rank(half, &number);
        for (int64_t k = 0; k < calls; ++k) {
            const uint64_t draw = random_at(seed + 2, (uint64_t)(i * calls + k));
            // Sizes from one number to `most`, as many of each order of magnitude.
            const int size = (int)pow(most, (double)(draw % 1000) / 999);
            const int root = (int)(draw / 1000 % (uint64_t)members);
            for (int j = 0; j < size; ++j) mine[j] = number + j;
            MPI_Allreduce(mine, sums, size, MPI_INT64_T, MPI_SUM, half);
            for (int j = 0; j < size; ++j)
                wrong += sums[j] != (int64_t)members * (members - 1) / 2 + members * (int64_t)j;
            MPI_Bcast(sums, size, MPI_INT64_T, root, half);
            const int block = size / members;
            MPI_Allgather(mine, block, MPI_INT64_T, all, block, MPI_INT64_T, half);
            for (int j = 0; j < block * members; ++j) wrong += all[j] != j / block + j % block;
        }
        MPI_Comm_free(&half);
    }
    double seconds = MPI_Wtime() - begin, longest = 0;
    int64_t all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %lld, seconds %.6f\n", (long long)all_wrong, longest);
    MPI_Finalize();
    return all_wrong != 0;
}
