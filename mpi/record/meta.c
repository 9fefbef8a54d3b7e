/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* meta.json, which rank 0 writes: what holds for the whole trace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pmpi/record_functions.h"
#include "record.h"

static void print_command(FILE* out) {
    char text[8192];
    size_t length = 0;
    FILE* in = fopen("/proc/self/cmdline", "rb");
    if (in) {
        length = fread(text, 1, sizeof text, in);
        fclose(in);
    }
    fputc('[', out);
    for (size_t i = 0; i < length;) {
        const size_t n = strnlen(text + i, length - i);
        if (i) fputs(", ", out);
        hocket_print_json_string(out, text + i, n);
        i += n + 1;
    }
    fputc(']', out);
}

int hocket_write_meta(const char* folder, const char* level, int64_t cost_ns) {
    /* A call writes some 8 bytes, and the file grows by them. */
    const double cost_per_call_ns = (double)cost_ns + 8 * hocket_file_ns_per_byte;
    char path[4096], part[4096], version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    /* The first line is enough; MPICH's has tabs or many spaces in it. */
    char* to = version;
    for (const char* from = version; *from && *from != '\n'; ++from) {
        const int blank = *from == ' ' || *from == '\t';
        if (!blank)
            *to++ = *from;
        else if (to > version && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = '\0';
    /* Whoever reads the folder while the program runs finds the whole file or none. */
    snprintf(part, sizeof part, "%s/meta.json.part", folder);
    FILE* out = fopen(part, "w");
    if (!out) return 0;
    fprintf(out, "{\n  \"format\": \"hocket.trace/3\",\n  \"ranks\": %d,\n  \"mpi\": ", hocket_state.num_ranks);
    hocket_print_json_string(out, version, strlen(version));
    fprintf(out, ",\n  \"thread_level\": \"%s\",\n  \"functions_wrapped\": %d,\n  \"cost_per_call_ns\": %.0f,\n", level,
            NUM_FUNCTIONS, cost_per_call_ns);
    hocket_print_filter(out);
    fputs("  \"program\": ", out);
    print_command(out);
    fputs("\n}\n", out);
    const int failed = ferror(out);
    snprintf(path, sizeof path, "%s/meta.json", folder);
    if (fclose(out) == 0 && !failed && rename(part, path) == 0) return 1;
    const int reason = errno;
    unlink(part);
    errno = reason;
    return 0;
}
