/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* A benchmark of your own for hocket-bench: a shared library with one function, hocket_bench_plugin, in C, C++ or
 * Fortran. `hocket bench new NAME` writes one that compiles. A suite names it:
 *
 *   [[plugins]]
 *   file = "libhalo.so"
 *   [[items]]
 *   use = "plugin.halo"
 *
 * All functions are called on all ranks that take part, in the same order. Only `run` is on the clock. */
#ifndef HOCKET_BENCH_H
#define HOCKET_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return. */
#define HOCKET_BENCH_OK 0
#define HOCKET_BENCH_UNSUPPORTED 1 /* this MPI, or this size, cannot do it */
#define HOCKET_BENCH_ERROR 2
#define HOCKET_BENCH_WRONG_DATA 3

/* What a pattern runs with. Fields are only ever added at the end; `struct_size` tells how much there is. */
typedef struct hocket_bench_setting {
    size_t struct_size;
    int32_t comm; /* Fortran's handle of the ranks that take part; in C MPI_Comm_f2c(comm). It returns errors. */
    int32_t rank, ranks;
    int64_t bytes;
    const char* folder;                  /* for files */
    void (*report)(const char* message); /* why a function is about to return something else than HOCKET_BENCH_OK */
} hocket_bench_setting;

/* What can be measured. hocket-bench gives it with `struct_size` set and all other fields 0. */
typedef struct hocket_bench_item {
    size_t struct_size;
    const char* name;
    const char* what;   /* a line for lists */
    int64_t min_bytes;  /* -1: it has no size */
    int32_t min_ranks;  /* 0 = 1 */
    int32_t is_batched; /* a sample may be several runs, where one is too short for the clock */
    int32_t (*setup)(const hocket_bench_setting* setting, void** state);
    int32_t (*prepare)(void* state,
                       uint64_t seed); /* what is sent is filled, what is received is spoilt; may be NULL */
    int32_t (*run)(void* state);
    int32_t (*verify)(void* state); /* after one run since prepare; may be NULL */
    int32_t (*finish)(void* state);
    int64_t (*bytes_moved)(void* state); /* that this rank sends, reads or writes in a run; may be NULL */
} hocket_bench_item;

/* Fills `item`. It first compares `struct_size` with sizeof(hocket_bench_item): a smaller one is that of an older
 * hocket-bench, which it refuses by HOCKET_BENCH_UNSUPPORTED. */
__attribute__((visibility("default"))) int32_t hocket_bench_plugin(hocket_bench_item* item);

#ifdef __cplusplus
}
#endif

#endif
