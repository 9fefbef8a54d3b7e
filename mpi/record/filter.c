/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Which functions get records: HOCKET_TRACE_ONLY and HOCKET_TRACE_WITHOUT, lists of groups and of functions, whose
 * names may have * and ? in them. Start and end of MPI are always there. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "pmpi/record_functions.h"
#include "record.h"

unsigned char hocket_is_left_out[NUM_FUNCTIONS];

static const struct {
    const char *variable, *key;
} lists[] = {{"HOCKET_TRACE_ONLY", "only"}, {"HOCKET_TRACE_WITHOUT", "without"}};

/* The next word of a list, or NULL; `*rest` is what is behind it. */
static const char* next_word(const char** rest, size_t* length) {
    const char* word = *rest + strspn(*rest, ", ");
    *length = strcspn(word, ", ");
    *rest = word + *length;
    return *length > 0 ? word : NULL;
}

static int matches(const char* pattern, int function) {
    char name[128];
    if (strcasecmp(pattern, hocket_function_groups[function]) == 0) return 1;
    snprintf(name, sizeof name, "%s", hocket_function_names[function]);
    if (fnmatch(pattern, name, FNM_CASEFOLD) == 0) return 1;
    const size_t length = strlen(name);
    if (length < 2 || strcmp(name + length - 2, "_c") != 0) return 0;
    name[length - 2] = '\0';
    return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
}

/* Sets `value` for all functions that the list names. */
static void mark(const char* variable, unsigned char value) {
    const char *rest = getenv(variable), *word;
    size_t length;
    int any = 0;
    while (rest && (word = next_word(&rest, &length))) {
        char pattern[128];
        int found = 0;
        snprintf(pattern, sizeof pattern, "%.*s", (int)length, word);
        if (!any && value == 0) memset(hocket_is_left_out, 1, NUM_FUNCTIONS);
        any = 1;
        for (int i = 0; i < NUM_FUNCTIONS; ++i) {
            if (!matches(pattern, i)) continue;
            hocket_is_left_out[i] = value;
            found = 1;
        }
        if (!found && hocket_state.rank == 0)
            fprintf(stderr,
                    "hocket: %s: found %s, which no MPI function of this library matches; accepted: names such as "
                    "MPI_Send or MPI_I*, and " FUNCTION_GROUPS "\n",
                    variable, pattern);
    }
}

void hocket_read_filter(void) {
    memset(hocket_is_left_out, 0, NUM_FUNCTIONS);
    mark(lists[0].variable, 0);
    mark(lists[1].variable, 1);
    hocket_is_left_out[FUNCTION_MPI_Init] = hocket_is_left_out[FUNCTION_MPI_Init_thread] = 0;
    hocket_is_left_out[FUNCTION_MPI_Finalize] = hocket_is_left_out[FUNCTION_MPI_Abort] = 0;
}

void hocket_print_filter(FILE* out) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        const char *rest = getenv(lists[i].variable), *word;
        size_t length;
        int any = 0;
        while (rest && (word = next_word(&rest, &length))) {
            if (any)
                fputs(", ", out);
            else
                fprintf(out, "  \"%s\": [", lists[i].key);
            any = 1;
            hocket_print_json_string(out, word, length);
        }
        if (any) fputs("],\n", out);
    }
}
