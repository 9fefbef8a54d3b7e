// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// As traps.c, with what only C++ has.
#include <mpi.h>

#include <utility>
#include <vector>

constexpr int n = 100;
static void ref(double* __restrict__ a, double* __restrict__ w) {
    int k = 3;
    int& r = k;
    r = w[0];
    if (k) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = i;
    }
}
static void init_if(double* __restrict__ a, double* __restrict__ w, int rank) {
    if (int k = 3; rank == 0) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = k;
    }
}
static void init_var(double* __restrict__ a, double* __restrict__ w, int rank) {
    if (int k = rank) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = k;
    }
}
static void rangefor(double* __restrict__ a, double* __restrict__ w, std::vector<int>& v) {
    for (int k : v) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = k;
    }
}
void unknown();
static void throws(double* __restrict__ a, double* __restrict__ w) {
    if (w == nullptr) unknown();
    // expect: divergence
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = i;
}
static void bitands(double* __restrict__ a, double* __restrict__ w) {
    int k = 3;
    int* p = bitand k;
    *p = w[0];
    if (k) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = i;
    }
}
static void lvalue(double* __restrict__ a, double* __restrict__ w) {
    int k = 3, m = 4;
    (a == w ? k : m) = w[0];
    if (k) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = i;
    }
}
double* saved;
static void address_of_assignment(double* __restrict__ w) {
    double a;
    saved = &(a = 3);
    // expect: pointer
    MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) saved[i] = i;
}
static void swapped(double* __restrict__ a, double* __restrict__ w) {
    int k = 3;
    auto [x, y] = std::pair<int&, int>(k, 2);
    x = w[0];
    if (k) {
        // expect: divergence
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) w[i] = y;
    }
}
struct Dual {
    double value;
};
double sqrt(const Dual& x);
static void another_root(double* __restrict__ a, double* __restrict__ w) {
    Dual x;
    // expect: unknown-call
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = sqrt(x);
}

namespace pool {
void* malloc(unsigned long size);
}
static void memory_of_its_own(double* __restrict__ w) {
    using pool::malloc;
    double* a = (double*)malloc(sizeof(double));
    // expect: pointer
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = i;
}

static double pasted_a[n], pasted_w[n];
static void pasted_it(double* __restrict__ a, double* __restrict__ w) {
    // expect: divergence
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = i;
}
#define PASTED(name) name##_it(pasted_a, pasted_w)
struct Guard {
    ~Guard() {
        if (pasted_w[0] > 0) PASTED(pasted);
    }
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double a[n], w[n];
    int rank;
    Guard guard;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<int> v(n);
    ref(a, w);
    init_if(a, w, rank);
    init_var(a, w, rank);
    rangefor(a, w, v);
    try {
        throws(a, w);
    } catch (...) {
        w[0] = 1;
    }
    bitands(a, w);
    lvalue(a, w);
    address_of_assignment(w);
    swapped(a, w);
    another_root(a, w);
    memory_of_its_own(w);
    MPI_Finalize();
    return 0;
}
