// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// As adversarial.c: names, macros and types that are not what they seem.
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
enum { N = 100 };

static void shadow_below(double* restrict a, double* restrict w, double* restrict v) {
    double x = 1;
    {
        // expect: dependence
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        w[0] = a[0] * x;
        double x = sqrt(2);
        for (int i = 0; i < N; i++) v[i] = x;
    }
}
static void shadow_above(double* restrict a, double* restrict w, double* restrict v) {
    int x = 1;
    {
        for (int i = 0; i < N; i++) w[i] = x;
        int x = abs(-3);
        // expect: unknown
        MPI_Bcast(a, x, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        v[0] = a[0];
    }
}
static void touch1(double* w) {
    for (int i = 0; i < N; i++) w[i] = i;
}
static void touch2(double* w) {
    for (int i = 0; i < N; i++) w[i] *= i;
}
#define BOTH(w) \
    touch1(w);  \
    touch2(w)
static void two_statements(double* restrict a, double* restrict w) {
    // expect: layout
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    BOTH(w);
}
typedef volatile double vd;
static void a_volatile_type(double* restrict a, vd* restrict w) {
    // expect: volatile
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}
static void an_atomic(double* restrict a, double* restrict w, atomic_int* restrict f) {
    // expect: unknown
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    while (f[0] == 0) w[0] = 1;
}
void mpi_send(double* x);
double* saved;
static void lower_case(double* restrict w) {
    double a[N];
    mpi_send(a);
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) saved[i] = i;
}
static void by_pointer_named(double* restrict w, void (*touch1)(double*)) {
    double a[N];
    touch1(a);
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) saved[i] = i;
}
#define OMP _Pragma("omp master")
static void pragma_macro(double* restrict a, double* restrict w) {
    OMP
        // expect: layout
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}
static void seq(double* restrict a, double* restrict w) {
    // expect: divergence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}
static int three(int k) { return k; }
#define SEQ(x, c, y) \
    x;               \
    if (c) y
static void elvis(double* restrict a, double* restrict w) {
    // expect: divergence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}
static int elv(double* restrict a, double* restrict w) {
    elvis(a, w);
    return 1;
}
static void param(double* restrict a, double* restrict w, int n) {
    if (n) {
        // expect: divergence
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) w[i] = i;
    }
}
#define PAIR(x, y) \
    x;             \
    y
#define BECOMES =
static void becomes(double* restrict a, double* restrict w, int rank) {
    int n = 3;
    n BECOMES rank;
    if (n) {
        // expect: divergence
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) w[i] = i;
    }
}
__attribute__((weak)) void weak_touch(double* x) {
    for (int i = 0; i < N; i++) x[i] = i;
}
static void calls_weak(double* restrict a, double* restrict w) {
    // expect: unknown-call
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    weak_touch(w);
}
static void vari(double* x, ...) { x[0] = 1; }
static void variadic(double* restrict w) {
    double a[N];
    vari(w, a);
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) saved[i] = i;
}

static void a_list_of_arguments(double* restrict a, double* restrict w, double* restrict v, ...) {
    va_list ap;
    va_start(ap, v);
    // expect: unknown
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    w[0] = a[0] * va_arg(ap, double);
    for (int i = 0; i < N; i++) v[i] = va_arg(ap, double);
    va_end(ap);
}
static void a_statement_with_a_value(double* restrict a, double* restrict w, double* restrict v) {
    int k = ({
        // expect: unknown
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        w[0] = a[0];
        for (int i = 0; i < N; i++) v[i] = i;
        3;
    });
    v[0] = k;
}

int main(int argc, char** argv) {
    double a[2 * N], b[2 * N], w[N];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    shadow_below(a, w, b);
    shadow_above(a, w, b);
    two_statements(a, w);
    a_volatile_type(a, w);
    an_atomic(a, w, 0);
    lower_case(w);
    by_pointer_named(w, mpi_send);
    pragma_macro(a, w);
    SEQ(three(3), rank == 0, seq(a, w));
    rank = (rank > 0) ?: elv(a, w);
    PAIR(param(a, w, 1), param(a, w, rank));
    becomes(a, w, rank);
    calls_weak(a, w);
    variadic(w);
    a_list_of_arguments(a, w, b, 1.0);
    a_statement_with_a_value(a, w, b);
    MPI_Finalize();
    return 0;
}
