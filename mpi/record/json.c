/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

#include "record.h"

void hocket_print_json_string(FILE* out, const char* text, size_t length) {
    fputc('"', out);
    for (size_t i = 0; i < length; ++i) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        /* Bytes that are not ASCII may not be UTF-8: shown by number. */
        else if (c < 0x20 || c > 0x7e)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}
