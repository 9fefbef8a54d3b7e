// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// As adversarial.c, with what only C++ has.
#include <mpi.h>

#include <vector>

constexpr int n = 100;

struct Noisy {
    double value = 0;
    Noisy& operator=(double other) {
        MPI_Barrier(MPI_COMM_WORLD);
        value = other;
        return *this;
    }
};

static void an_operator(double* __restrict__ a, Noisy* __restrict__ w) {
    // expect: unknown
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = i;
}

static void a_vector(std::vector<double>& a, double* __restrict__ w) {
    // expect: pointer
    MPI_Bcast(a.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = i;
}

static void a_reference(double* __restrict__ w) {
    double a[n];
    double& first = a[0];
    // expect: pointer
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = first;
}

static void a_scalar_with_a_reference(double* __restrict__ w) {
    double a = 1;
    double& other = a;
    // expect: pointer
    MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = other;
}

static void a_lambda(double* __restrict__ a, double* __restrict__ w) {
    auto f = [&](int i) { return a[i]; };
    // expect: unknown
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = f(i);
}

static void a_range(double* __restrict__ a, std::vector<double>& w) {
    // expect: unknown
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (double& one : w) one = 1;
}

template <typename F>
static void by_a_template(F f) {
    f();
}
static double shared[n], other[n];
static void called_by_a_template() {
    double a[n], w[n];
    // expect: divergence
    MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) w[i] = i;
    shared[0] = w[1];
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double a[n], w[n];
    Noisy noisy[n];
    std::vector<double> v(n);
    an_operator(a, noisy);
    a_vector(v, w);
    a_reference(w);
    a_scalar_with_a_reference(w);
    a_lambda(a, w);
    a_range(a, v);
    by_a_template(called_by_a_template);
    other[0] = w[0];
    MPI_Finalize();
    return 0;
}
