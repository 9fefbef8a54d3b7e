/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

#include "descriptor.h"

#include <string.h>

enum { max_rank = 15 };

static ptrdiff_t extent(const struct dimension* dimension) {
    const ptrdiff_t elements = dimension->upper - dimension->lower + 1;
    return elements > 0 ? elements : 0;
}

size_t num_elements(const struct descriptor* array) {
    size_t num = 1;
    for (int i = 0; i < array->rank; ++i) num *= (size_t)extent(&array->dimensions[i]);
    return num;
}

int is_contiguous(const struct descriptor* array) {
    ptrdiff_t elements = 1;
    for (int i = 0; i < array->rank; ++i) {
        if (array->dimensions[i].stride != elements && extent(&array->dimensions[i]) > 1) return 0;
        elements *= extent(&array->dimensions[i]);
    }
    return 1;
}

/* Copies `num` elements, which are so many bytes apart. */
static void copy(char* to, ptrdiff_t to_step, const char* from, ptrdiff_t from_step, size_t num, size_t bytes) {
#define COPY(size) \
    for (size_t i = 0; i < num; ++i) memcpy(to + (ptrdiff_t)i * to_step, from + (ptrdiff_t)i * from_step, size)
    switch (bytes) { /* known to the compiler, a copy is one instruction */
        case 4:
            COPY(4);
            break;
        case 8:
            COPY(8);
            break;
        case 16:
            COPY(16);
            break;
        default:
            COPY(bytes);
    }
#undef COPY
}

/* Copies every element to the array or from it, a row of the first dimension at a time. */
static void copy_all(const struct descriptor* array, char* packed, int to_array) {
    const ptrdiff_t bytes = (ptrdiff_t)array->element_bytes;
    const size_t num = num_elements(array), in_row = array->rank > 0 ? (size_t)extent(&array->dimensions[0]) : 1;
    const ptrdiff_t row_step = array->rank > 0 ? array->dimensions[0].stride * bytes : 0;
    ptrdiff_t index[max_rank] = {0}, at = 0; /* at: bytes from the first element */
    for (size_t done = 0; done < num; done += in_row) {
        if (to_array) {
            copy(array->address + at, row_step, packed, bytes, in_row, array->element_bytes);
        } else {
            copy(packed, bytes, array->address + at, row_step, in_row, array->element_bytes);
        }
        packed += (ptrdiff_t)in_row * bytes;
        for (int d = 1; d < array->rank; ++d) { /* the next row */
            const ptrdiff_t step = array->dimensions[d].stride * bytes;
            at += step;
            if (++index[d] < extent(&array->dimensions[d])) break;
            at -= index[d] * step;
            index[d] = 0;
        }
    }
}

void pack(const struct descriptor* array, char* to) { copy_all(array, to, 0); }
void unpack(const struct descriptor* array, const char* from) { copy_all(array, (char*)from, 1); }
