// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Calls that must stay as they are. The comment before each has the code of the reason, or one of them.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };
double global[N];
static double* saved;
void unknown(void);
void unknown_with(double* x);
int chance(void);

static void another_name(double* a, double* w) {
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void a_global(double* w) {
    // expect: pointer
    MPI_Bcast(global, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void copied(double* restrict a, double* restrict w) {
    double* q = a + 1;
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) q[i] = w[i];
}

static void assigned(double* restrict a, double* restrict b, double* restrict w) {
    a = b;
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = b[i];
}

static void kept_elsewhere(double* restrict w) {
    double a[N];
    saved = a;
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = saved[i];
}

static void given_away(double* restrict w) {
    double a[N];
    unknown_with(a);
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static double* returned(double* restrict w) {
    double* a = malloc(N * sizeof(double));
    // expect: pointer
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
    return a;
}

static void needed_in_a_loop(double* restrict a, double* restrict w) {
    // expect: dependence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = a[i];
}

static void needed_in_a_condition(double* restrict a, double* restrict w) {
    // expect: dependence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        if (a[0] > 0) w[i] = i;
    }
}

static void sent_and_changed(double* restrict a, double* restrict b) {
    // expect: dependence
    MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) a[i] = 0;
}

static void through_a_function_inner(double* x, const double* y) {
    for (int i = 0; i < N; i++) x[i] = y[i];
}

static void through_a_function(double* restrict a, double* restrict w) {
    // expect: dependence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    through_a_function_inner(w, a);
}

static void an_unknown_function(double* restrict a, double* restrict w) {
    // expect: unknown-call
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    unknown();
    for (int i = 0; i < N; i++) w[i] = i;
}

static void a_pointer_to_a_function(double* restrict a, double* restrict w, void (*f)(void)) {
    // expect: unknown-call
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    f();
    for (int i = 0; i < N; i++) w[i] = i;
}

static void it_prints(double* restrict a, double* restrict w) {
    // expect: io
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    printf("received\n");
    for (int i = 0; i < N; i++) w[i] = i;
}

static int it_returns(double* restrict a, double* restrict w) {
    // expect: early-exit
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        if (i == N) return 1;
        w[i] = i;
    }
    return 0;
}

static void another_call(double* restrict a, double* restrict w) {
    // expect: order
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void some_ranks_only(double* restrict a, double* restrict w) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        // expect: divergence
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) w[i] = i;
    } else {
        // expect: divergence
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

static void some_ranks_leave(double* restrict a, double* restrict w) {
    if (chance()) return;
    // expect: divergence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void a_length_that_differs(double* restrict a, double* restrict w, int rank) {
    int steps = 3;
    if (rank == 0) steps++;
    for (int k = 0; k < steps; k++) {
        // expect: divergence
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) w[i] = i;
    }
}

static void called_by_some(double* restrict a, double* restrict w) {
    // expect: divergence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void called_behind_and(double* restrict a, double* restrict w) {
    // expect: divergence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}
static int call_it(double* restrict a, double* restrict w) {
    called_behind_and(a, w);
    return 1;
}

static void passed_on(double* restrict a, double* restrict w) {
    // expect: divergence
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}
void (*table[])(double* restrict, double* restrict) = {passed_on};

static void rounds_otherwise(double* restrict a, double* restrict b, double* restrict w) {
    // expect: rounding
    MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void an_operation_of_its_own(double* restrict a, double* restrict b, double* restrict w, MPI_Op op) {
    // expect: unknown-call
    MPI_Allreduce(a, b, N, MPI_DOUBLE, op, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void one_object_twice(double* restrict a, double* restrict w) {
    // expect: aliasing
    MPI_Allreduce(a, a + N, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void it_stays(double* restrict a, double* restrict w) {
    // hocket keep
    // expect: keep
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void a_directive(double* restrict a, double* restrict w) {
    // expect: directive
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#ifndef OTHER
    for (int i = 0; i < N; i++) w[i] = i;
#endif
}

static void a_volatile_one(double* restrict a, volatile double* restrict w) {
    // expect: volatile
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void two_in_a_line(double* restrict a, double* restrict w) {
    int k = 0;
    // clang-format off
  // expect: layout
  k++; MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    // clang-format on
    for (int i = 0; i < N; i++) w[i] = k;
}

static void a_jump(double* restrict a, double* restrict w) {
    // expect: unknown
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        if (w[i] > 0) goto end;
        w[i] = i;
    }
end:
    w[0] = 1;
}

static void a_hidden_assignment(double* restrict a, double* restrict w) {
#define SET(x, y) x = y
    // expect: directive
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) SET(w[i], a[i]);
}

#define STORE(x, y) x = y
static void an_assignment_by_a_macro(double* restrict a, double* restrict w) {
    // expect: unknown
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) STORE(w[i], i);
}

static void counts_that_change(double* restrict a, double* restrict b, int* restrict counts, int* restrict at) {
    // expect: dependence
    MPI_Allgatherv(a, N, MPI_DOUBLE, b, counts, at, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) counts[i] = 0;
}

struct pair {
    double values[N];
    int number;
};

static void part_of_a_structure(struct pair* restrict p, double* restrict w) {
    // expect: pointer
    MPI_Bcast(p->values, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) w[i] = i;
}

static void nothing_beside_it(double* restrict a, double* restrict w) {
    double x = w[0];
    // expect: end
    MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    w[1] = x + 1;
}

int main(int argc, char** argv) {
    double a[2 * N], b[2 * N], w[N];
    int rank, counts[N], at[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    another_name(a, w);
    a_global(w);
    copied(a, w);
    assigned(a, b, w);
    kept_elsewhere(w);
    given_away(w);
    free(returned(w));
    needed_in_a_loop(a, w);
    needed_in_a_condition(a, w);
    sent_and_changed(a, b);
    through_a_function(a, w);
    an_unknown_function(a, w);
    a_pointer_to_a_function(a, w, unknown);
    it_prints(a, w);
    it_returns(a, w);
    another_call(a, w);
    some_ranks_only(a, w);
    some_ranks_leave(a, w);
    a_length_that_differs(a, w, rank);
    if (rank < 2) called_by_some(a, w);
    int both = rank == 0 && call_it(a, w);
    table[both](a, w);
    passed_on(a, w);
    rounds_otherwise(a, b, w);
    an_operation_of_its_own(a, b, w, MPI_MAX);
    one_object_twice(a, w);
    it_stays(a, w);
    a_directive(a, w);
    a_volatile_one(a, w);
    two_in_a_line(a, w);
    a_jump(a, w);
    a_hidden_assignment(a, w);
    an_assignment_by_a_macro(a, w);
    counts_that_change(a, b, counts, at);
    part_of_a_structure(&(struct pair){.number = 1}, w);
    nothing_beside_it(a, w);
    MPI_Finalize();
    return 0;
}
