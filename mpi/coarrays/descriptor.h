/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* What gfortran passes of an array, from its version 8 on (libgfortran.h of GCC). */
#ifndef HOCKET_COARRAYS_DESCRIPTOR_H
#define HOCKET_COARRAYS_DESCRIPTOR_H

#include <stddef.h>

enum { type_integer = 1, type_logical = 2, type_real = 3, type_complex = 4, type_character = 6 };

struct dimension {
    ptrdiff_t stride; /* in elements */
    ptrdiff_t lower, upper;
};

struct descriptor {
    char* address; /* of the first element */
    size_t offset;
    size_t element_bytes;
    int version;
    signed char rank, type;
    short attribute;
    /* Bytes of a step of one, which differ from element_bytes where a pointer points to components. Not to be used:
     * gfortran 12 leaves it unset for the components of a derived type that it broadcasts one by one. */
    ptrdiff_t span;
    struct dimension dimensions[];
};

/* Elements in all; 0 if any dimension is empty. */
size_t num_elements(const struct descriptor* array);
/* Whether the elements lie back to back. */
int is_contiguous(const struct descriptor* array);
/* Copies all elements, in the order of Fortran. */
void pack(const struct descriptor* array, char* to);
void unpack(const struct descriptor* array, const char* from);

#endif
