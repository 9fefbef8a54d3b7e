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

/* Copies every element to the array or from it. */
static void for_each(const struct descriptor* array, char* packed, int to_array) {
    const size_t bytes = array->element_bytes, num = num_elements(array);
    ptrdiff_t index[max_rank] = {0}, at = 0; /* at: bytes from the first element */
    for (size_t i = 0; i < num; ++i) {
        if (to_array) {
            memcpy(array->address + at, packed, bytes);
        } else {
            memcpy(packed, array->address + at, bytes);
        }
        packed += bytes;
        for (int d = 0; d < array->rank; ++d) { /* the next index, the first dimension fastest */
            const ptrdiff_t step = array->dimensions[d].stride * (ptrdiff_t)bytes;
            at += step;
            if (++index[d] < extent(&array->dimensions[d])) break;
            at -= index[d] * step;
            index[d] = 0;
        }
    }
}

void pack(const struct descriptor* array, char* to) { for_each(array, to, 0); }
void unpack(const struct descriptor* array, const char* from) { for_each(array, (char*)from, 1); }
