// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Kernels of the usual shapes in C. `window` in the comment before a call: a careful person finds one.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1200 };

static void smooth(double* field, const double* weights, int n) {
    for (int i = 1; i + 1 < n; i++) {
        field[i] = 0.5 * field[i] + 0.25 * weights[i] * (field[i - 1] + field[i + 1]);
    }
}

static double sum_of(const double* field, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += field[i];
    }
    return sum;
}

// A matrix-vector product beside an alltoall.
static double alltoall_and_matrix(int rank, int size) {
    double sent[N], received[N], matrix[40][40], vector[40], product[40];
    for (int i = 0; i < N; i++) {
        sent[i] = i * (rank + 1) % 31;
        received[i] = 0;
    }
    for (int i = 0; i < 40; i++) {
        vector[i] = i % 7;
        product[i] = 0;
        for (int j = 0; j < 40; j++) {
            matrix[i][j] = (i * j + rank) % 11;
        }
    }
    // window
    MPI_Alltoall(sent, N / size, MPI_DOUBLE, received, N / size, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 40; j++) {
            product[i] += matrix[i][j] * vector[j];
        }
    }
    return sum_of(product, 40) + sum_of(received, N);
}

// What is received needs the message, the work behind it does not: it moves before it.
static double work_behind(double* restrict shared, double* restrict own, const double* restrict weights, int rank) {
    // window
    MPI_Bcast(shared, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        shared[i] = shared[i] + rank;
    }
    smooth(own, weights, N);
    return sum_of(shared, N) + sum_of(own, N);
}

// The work stands before the call.
static double work_before(double* restrict mine, double* restrict largest, double* restrict own) {
    for (int i = 0; i < N; i++) {
        own[i] = sqrt(fabs(own[i])) + 1;
    }
    // window
    MPI_Allreduce(mine, largest, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return sum_of(largest, N) + sum_of(own, N);
}

// Memory from malloc that one pointer has.
static double allocated(int rank, int size) {
    double* mine = malloc(N * sizeof(double));
    double* all = malloc(N * size * sizeof(double));
    double* own = calloc(N, sizeof(double));
    for (int i = 0; i < N; i++) {
        mine[i] = rank + i;
    }
    // window
    MPI_Allgather(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        own[i] = own[i] + i % 5;
    }
    double sum = sum_of(all, N * size) + sum_of(own, N);
    free(mine);
    free(all);
    free(own);
    return sum;
}

// Two calls: the work between them serves one, the work behind the second one the other.
static double two_calls(double* restrict a, double* restrict b, double* restrict own, const double* restrict weights) {
    // window
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    smooth(own, weights, N);
    own[0] = a[0];
    // window
    MPI_Bcast(b, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    smooth(own, weights, N);
    return own[3] + b[5];
}

// A scalar: only MPI gets its address.
static double dot_product(const double* restrict x, const double* restrict y, double* restrict w) {
    long mine = 0, total = 0;
    for (int i = 0; i < N; i++) {
        mine += (long)(x[i] * y[i]);
    }
    // window
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        w[i] = 0.5 * (x[i] + y[i]);
    }
    return (double)total + w[7];
}

// In a loop whose length is the same on all ranks.
static double iterations(double* restrict a, double* restrict own, int steps) {
    for (int step = 0; step < steps; step++) {
        // window
        MPI_Allreduce(MPI_IN_PLACE, a, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) {
            own[i] = 0.5 * own[i] + step;
        }
        a[step] = own[step];
    }
    return a[1] + own[2];
}

// The next statement needs the message: nothing can be done.
static double chain(double* restrict a) {
    double sum = 0;
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        sum = 0.5 * sum + a[i];
    }
    return sum;
}

int main(int argc, char** argv) {
    int rank, size;
    double *a, *b, *own, *weights;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    a = malloc(N * sizeof(double));
    b = malloc(N * sizeof(double));
    own = malloc(N * sizeof(double));
    weights = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++) {
        a[i] = (rank + 1) * i % 17;
        b[i] = rank - i % 5;
        own[i] = i % 13;
        weights[i] = 1.0 / (1 + i % 3);
    }
    double answers[8];
    answers[0] = alltoall_and_matrix(rank, size);
    answers[1] = work_behind(a, own, weights, rank);
    answers[2] = work_before(a, b, own);
    answers[3] = allocated(rank, size);
    answers[4] = two_calls(a, b, own, weights);
    answers[5] = dot_product(a, b, own);
    answers[6] = iterations(a, own, 6);
    answers[7] = chain(b);
    for (int i = 0; i < 8; i++) {
        printf("%d %d %.17g\n", rank, i, answers[i]);
    }
    free(a);
    free(b);
    free(own);
    free(weights);
    MPI_Finalize();
    return 0;
}
