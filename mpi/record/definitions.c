/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Records that define what calls name. All under the lock. */
#include <string.h>

#include "hocket/trace/coder.h"
#include "record.h"

unsigned char hocket_named[HOCKET_TRACE_NONE16 / 8 + 1];

unsigned char* hocket_begin_definition(uint16_t kind, uint16_t function, size_t bytes) {
    unsigned char* to = hocket_file_reserve(bytes + 16);
    if (!to) return NULL;
    *to++ = (unsigned char)(kind << 2);
    to = hocket_trace_put(to, bytes + 2);
    memcpy(to, &function, 2);
    return to + 2;
}

void hocket_name_function(uint16_t function) {
    const char* name = hocket_function_names[function];
    unsigned char* to = hocket_begin_definition(HOCKET_TRACE_FUNCTION, function, strlen(name));
    if (!to) return;
    memcpy(to, name, strlen(name));
    hocket_file_commit(to + strlen(name));
    hocket_named[function / 8] = (unsigned char)(hocket_named[function / 8] | (1u << (function % 8)));
}

void hocket_forget_names(void) { memset(hocket_named, 0, sizeof hocket_named); }
