/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The collective subroutines of coarray programs that gfortran compiles for OpenCoarrays, each as one call of MPI,
 * which a plan can reroute. OpenCoarrays 2.10 broadcasts an array by one MPI_Bcast for each element, and reduces one
 * that is not contiguous so.
 *
 * Twice from this file: libhocket_coarrays.a for the linker's --wrap, where the program contains OpenCoarrays (as its
 * compiler wrapper caf links it), and libhocket_coarrays.so to be preloaded where it is a shared library. What is not
 * served here is left to OpenCoarrays. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

typedef void (*operator_function)(void); /* what it takes and returns depends on the type */

#ifdef HOCKET_WRAP
#define DEFINED(name) __wrap__gfortran_caf_##name
#define ORIGINAL(name) __real__gfortran_caf_##name
extern MPI_Comm CAF_COMM_WORLD; /* OpenCoarrays' own: of the present team */
static MPI_Comm team(void) { return CAF_COMM_WORLD; }
#define DECLARE_ORIGINAL(name, parameters) extern void ORIGINAL(name) parameters;
#else
#include <dlfcn.h>
#define DEFINED(name) _gfortran_caf_##name
#define ORIGINAL(name) (*(original_##name*)find(RTLD_NEXT, "_gfortran_caf_" #name))
static void* find(void* where, const char* name) {
    void* found = dlsym(where, name);
    if (found != NULL) return found;
    fprintf(stderr,
            "hocket: no %s behind libhocket_coarrays.so: the program contains OpenCoarrays; link it with `hocket "
            "coarrays`\n",
            name);
    abort();
}
static MPI_Comm team(void) {
    static const MPI_Comm* found = NULL;
    if (found == NULL) found = find(RTLD_DEFAULT, "CAF_COMM_WORLD");
    return *found;
}
#define DECLARE_ORIGINAL(name, parameters) typedef void original_##name parameters;
#endif
#define EXPORTED __attribute__((visibility("default")))

DECLARE_ORIGINAL(co_broadcast, (struct descriptor*, int, int*, char*, size_t))
DECLARE_ORIGINAL(co_sum, (struct descriptor*, int, int*, char*, size_t))
DECLARE_ORIGINAL(co_min, (struct descriptor*, int, int*, char*, int, size_t))
DECLARE_ORIGINAL(co_max, (struct descriptor*, int, int*, char*, int, size_t))
DECLARE_ORIGINAL(co_reduce, (struct descriptor*, operator_function, int, int, int*, char*, int, size_t))

/* As Fortran wants it: with `stat` the program goes on, without it ends. */
static void conclude(const char* name, int code, int* stat, char* message, size_t message_length) {
    if (stat != NULL) *stat = code;
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (stat == NULL) {
        fprintf(stderr, "%s failed: %s\n", name, text);
        usleep(200000); /* MPICH 5.0's launcher drops what it has not read when a rank aborts */
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (message == NULL) return;
    memset(message, ' ', message_length);
    memcpy(message, text, (size_t)length < message_length ? (size_t)length : message_length);
}

/* The elements back to back: the array itself, or a copy that is the caller's to free. NULL: no memory. */
static char* contiguous(const struct descriptor* array, int with_values) {
    if (is_contiguous(array)) return array->address;
    const size_t bytes = num_elements(array) * array->element_bytes;
    char* copy = malloc(bytes > 0 ? bytes : 1);
    if (copy != NULL && with_values) pack(array, copy);
    return copy;
}

static int in_parts(size_t num, size_t element_bytes, int (*call)(size_t first, int count, void* data), void* data) {
    const size_t most = INT_MAX / (element_bytes > 0 ? element_bytes : 1);
    int code = MPI_SUCCESS;
    size_t first = 0;
    do { /* also with no element: what all images call, all make a call of MPI */
        const size_t count = num - first < most ? num - first : most;
        code = call(first, (int)count, data);
        first += count;
    } while (first < num && code == MPI_SUCCESS);
    return code;
}

struct broadcast {
    char* address;
    int root;
};

static int broadcast_part(size_t first, int count, void* data) {
    const struct broadcast* what = data;
    return MPI_Bcast(what->address + first, count, MPI_BYTE, what->root, team());
}

EXPORTED void DEFINED(co_broadcast)(struct descriptor* array, int source_image, int* stat, char* message,
                                    size_t message_length) {
    int rank;
    MPI_Comm_rank(team(), &rank);
    const int is_source = rank == source_image - 1;
    struct broadcast what = {contiguous(array, is_source), source_image - 1};
    if (what.address == NULL && num_elements(array) > 0)
        return conclude("co_broadcast", MPI_ERR_NO_MEM, stat, message, message_length);
    const int code = in_parts(num_elements(array) * array->element_bytes, 1, broadcast_part, &what);
    if (what.address != array->address) {
        if (code == MPI_SUCCESS && !is_source) unpack(array, what.address);
        free(what.address);
    }
    conclude("co_broadcast", code, stat, message, message_length);
}

/* MPI_DATATYPE_NULL: OpenCoarrays knows better. */
static MPI_Datatype type_of(const struct descriptor* array) {
    switch (array->type) {
        case type_integer:
        case type_logical:
            switch (array->element_bytes) {
                case 1:
                    return MPI_INT8_T;
                case 2:
                    return MPI_INT16_T;
                case 4:
                    return MPI_INT32_T;
                case 8:
                    return MPI_INT64_T;
            }
            break;
        case type_real:
            if (array->element_bytes == sizeof(float)) return MPI_FLOAT;
            if (array->element_bytes == sizeof(double)) return MPI_DOUBLE;
            break; /* 16 bytes are real(10) or real(16) */
        case type_complex:
            if (array->element_bytes == 2 * sizeof(float)) return MPI_C_FLOAT_COMPLEX;
            if (array->element_bytes == 2 * sizeof(double)) return MPI_C_DOUBLE_COMPLEX;
    }
    return MPI_DATATYPE_NULL;
}

struct reduction {
    char* address;
    size_t element_bytes;
    MPI_Datatype type;
    MPI_Op op;
    int root, rank; /* root < 0: all images get the result */
};

/* In place at the image that gets the result. */
static int reduce_here(const struct reduction* what, char* address, int count) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
    /* MPICH 4.0 crashes in that above 2 KB, unless it is rank 0: github.com/pmodels/mpich, issue 6540. */
    const size_t bytes = (size_t)count * what->element_bytes;
    char* const copy = malloc(bytes > 0 ? bytes : 1);
    if (copy == NULL) return MPI_ERR_NO_MEM;
    if (bytes > 0) memcpy(copy, address, bytes);
    const int code = MPI_Reduce(copy, address, count, what->type, what->op, what->root, team());
    free(copy);
    return code;
#else
    return MPI_Reduce(MPI_IN_PLACE, address, count, what->type, what->op, what->root, team());
#endif
}

static int reduce_part(size_t first, int count, void* data) {
    const struct reduction* what = data;
    char* const address = what->address + first * what->element_bytes;
    if (what->root < 0) return MPI_Allreduce(MPI_IN_PLACE, address, count, what->type, what->op, team());
    if (what->root == what->rank) return reduce_here(what, address, count);
    return MPI_Reduce(address, NULL, count, what->type, what->op, what->root, team());
}

static void reduce(const char* name, struct descriptor* array, MPI_Op op, int result_image, int* stat, char* message,
                   size_t message_length) {
    struct reduction what = {contiguous(array, 1), array->element_bytes, type_of(array), op, result_image - 1, 0};
    if (what.address == NULL && num_elements(array) > 0)
        return conclude(name, MPI_ERR_NO_MEM, stat, message, message_length);
    MPI_Comm_rank(team(), &what.rank);
    const int code = in_parts(num_elements(array), array->element_bytes, reduce_part, &what);
    if (what.address != array->address) {
        if (code == MPI_SUCCESS && (what.root < 0 || what.root == what.rank)) unpack(array, what.address);
        free(what.address);
    }
    conclude(name, code, stat, message, message_length);
}

EXPORTED void DEFINED(co_sum)(struct descriptor* array, int result_image, int* stat, char* message,
                              size_t message_length) {
    if (type_of(array) == MPI_DATATYPE_NULL)
        return ORIGINAL(co_sum)(array, result_image, stat, message, message_length);
    reduce("co_sum", array, MPI_SUM, result_image, stat, message, message_length);
}

EXPORTED void DEFINED(co_min)(struct descriptor* array, int result_image, int* stat, char* message, int length,
                              size_t message_length) {
    if (type_of(array) == MPI_DATATYPE_NULL)
        return ORIGINAL(co_min)(array, result_image, stat, message, length, message_length);
    reduce("co_min", array, MPI_MIN, result_image, stat, message, message_length);
}

EXPORTED void DEFINED(co_max)(struct descriptor* array, int result_image, int* stat, char* message, int length,
                              size_t message_length) {
    if (type_of(array) == MPI_DATATYPE_NULL)
        return ORIGINAL(co_max)(array, result_image, stat, message, length, message_length);
    reduce("co_max", array, MPI_MAX, result_image, stat, message, message_length);
}

/* The program's function takes two elements, by reference or by value, and returns one. */
static operator_function combine;

#define OPERATORS(type)                                                                         \
    static void type##_by_reference(void* in, void* inout, int* count, MPI_Datatype* ignored) { \
        type (*const function)(type*, type*) = (type (*)(type*, type*))combine;                 \
        type *a = in, *b = inout;                                                               \
        (void)ignored;                                                                          \
        for (int i = 0; i < *count; ++i) b[i] = function(&a[i], &b[i]);                         \
    }                                                                                           \
    static void type##_by_value(void* in, void* inout, int* count, MPI_Datatype* ignored) {     \
        type (*const function)(type, type) = (type (*)(type, type))combine;                     \
        type *a = in, *b = inout;                                                               \
        (void)ignored;                                                                          \
        for (int i = 0; i < *count; ++i) b[i] = function(a[i], b[i]);                           \
    }
OPERATORS(int8_t)
OPERATORS(int16_t)
OPERATORS(int32_t)
OPERATORS(int64_t)
OPERATORS(float)
OPERATORS(double)

static MPI_User_function* operator_of(const struct descriptor* array, int by_value) {
    const MPI_Datatype type = type_of(array);
#define CHOOSE(mpi_type, c_type) \
    if (type == mpi_type) return by_value ? c_type##_by_value : c_type##_by_reference;
    CHOOSE(MPI_INT8_T, int8_t)
    CHOOSE(MPI_INT16_T, int16_t)
    CHOOSE(MPI_INT32_T, int32_t)
    CHOOSE(MPI_INT64_T, int64_t)
    CHOOSE(MPI_FLOAT, float)
    CHOOSE(MPI_DOUBLE, double)
    return NULL;
}

EXPORTED void DEFINED(co_reduce)(struct descriptor* array, operator_function function, int flags, int result_image,
                                 int* stat, char* message, int length, size_t message_length) {
    enum {
        by_value = 4
    }; /* of gfortran's flags; the others mean that the result comes by reference, or strings or descriptors */
    MPI_User_function* const adapter = (flags & ~by_value) == 0 ? operator_of(array, (flags & by_value) != 0) : NULL;
    if (adapter == NULL)
        return ORIGINAL(co_reduce)(array, function, flags, result_image, stat, message, length, message_length);
    combine = function;
    MPI_Op op;
    const int code = MPI_Op_create(adapter, 1, &op); /* Fortran wants a commutative one */
    if (code != MPI_SUCCESS) return conclude("co_reduce", code, stat, message, message_length);
    reduce("co_reduce", array, op, result_image, stat, message, message_length);
    MPI_Op_free(&op);
}
