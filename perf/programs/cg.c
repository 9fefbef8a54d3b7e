// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Like CG of the NAS parallel benchmarks and HPCG: conjugate gradients on a sparse matrix. Each iteration exchanges
// planes with two neighbours, point to point, and adds up two numbers: an allreduce of 8 bytes each. Nothing here gets
// faster by other collectives on a network without much latency.
//
// Checked: the solution is the one that the right-hand side was made from.
//
// Usage: cg SIZE [SEED [SOLVES]]   SIZE: planes of 64 x 64 unknowns, rounded up to a multiple of the ranks

#include "common.h"

enum { side = 64, plane = side * side, most_iterations = 200 };

typedef struct {
    int before, after;  // ranks; MPI_PROC_NULL at the ends
    int64_t planes;
} Slab;

// `vector` has one plane more at either end, those of the neighbours.
static void exchange(const Slab* slab, double* vector) {
    double *first = vector + plane, *last = vector + slab->planes * plane;
    MPI_Sendrecv(first, plane, MPI_DOUBLE, slab->before, 0, last + plane, plane, MPI_DOUBLE, slab->after, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, plane, MPI_DOUBLE, slab->after, 1, vector, plane, MPI_DOUBLE, slab->before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// The seven-point Laplacian, shifted so that the iterations needed do not depend on the size.
static void multiply(const Slab* slab, double* vector, double* product) {
    exchange(slab, vector);
    for (int64_t z = 1; z <= slab->planes; ++z) {
        for (int y = 0; y < side; ++y) {
            const double* here = vector + z * plane + y * side;
            double* target = product + z * plane + y * side;
            for (int x = 0; x < side; ++x) {
                double sum = 6.5 * here[x] - here[x - plane] - here[x + plane];
                sum -= (y > 0 ? here[x - side] : 0) + (y < side - 1 ? here[x + side] : 0);
                sum -= (x > 0 ? here[x - 1] : 0) + (x < side - 1 ? here[x + 1] : 0);
                target[x] = sum;
            }
        }
    }
}

static double dot(const Slab* slab, const double* a, const double* b) {
    double own = 0, sum = 0;
    for (int64_t i = plane; i < (slab->planes + 1) * plane; ++i) {
        own += a[i] * b[i];
    }
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

// Returns how many iterations it took; `direction`, `product` are room.
static int solve(const Slab* slab, double* solution, double* residual, double* direction, double* product) {
    const int64_t begin = plane, end = (slab->planes + 1) * plane;
    for (int64_t i = begin; i < end; ++i) {
        solution[i] = 0;
        direction[i] = residual[i];
    }
    double square = dot(slab, residual, residual);
    const double enough = square * 1e-24;
    int iteration = 0;
    while (square > enough && iteration < most_iterations) {
        ++iteration;
        multiply(slab, direction, product);
        const double step = square / dot(slab, direction, product);
        for (int64_t i = begin; i < end; ++i) {
            solution[i] += step * direction[i];
            residual[i] -= step * product[i];
        }
        const double next = dot(slab, residual, residual);
        for (int64_t i = begin; i < end; ++i) {
            direction[i] = residual[i] + next / square * direction[i];
        }
        square = next;
    }
    return iteration;
}

int main(int argc, char** argv) {
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Slab slab;
    slab.planes = (number_argument(argc, argv, 1, "SIZE", 80, 1, 100000) + ranks - 1) / ranks;
    slab.before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    slab.after = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    const uint64_t seed = (uint64_t)number_argument(argc, argv, 2, "SEED", 1, 0, INT32_MAX);
    const int solves = (int)number_argument(argc, argv, 3, "SOLVES", 2, 1, 100000);

    const size_t length = (size_t)(slab.planes + 2) * plane;
    double* vectors = allocate(5 * length, sizeof *vectors);
    double *expected = vectors, *solution = vectors + length, *residual = vectors + 2 * length;
    double *direction = vectors + 3 * length, *product = vectors + 4 * length;
    double checksum = 0, furthest = 0;
    int converged = 1;
    for (int i = 0; i < solves; ++i) {
        for (int64_t j = 0; j < slab.planes * plane; ++j) {
            expected[plane + j] = uniform_at(seed + (uint64_t)i, (uint64_t)(rank * slab.planes * plane + j));
        }
        multiply(&slab, expected, residual);
        converged = solve(&slab, solution, residual, direction, product) < most_iterations && converged;
        for (int64_t j = plane; j < (slab.planes + 1) * plane; ++j) {
            furthest = fmax(furthest, fabs(solution[j] - expected[j]));
        }
        checksum += dot(&slab, solution, expected);
    }
    const int ok = everywhere(converged && furthest < 1e-9);
    if (rank == 0) {
        printf("cg: ranks %d, unknowns %lld, solves %d, checksum %.7g, answer: %s\n", ranks,
               (long long)(slab.planes * plane * ranks), solves, checksum, ok ? "ok" : "WRONG");
    }
    free(vectors);
    MPI_Finalize();
    return ok ? 0 : 1;
}
