/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The windows and files of calls, numbered as they are met. */
#include <stdlib.h>

#include "record.h"

static struct table windows, files;
static uint32_t num_windows, num_files;

static uint32_t number_of(struct table* table, uint64_t key, uint32_t* count) {
    const struct entry* entry = hocket_table_find(table, key);
    if (entry) return (uint32_t)entry->value;
    hocket_table_insert(table, key, *count, 0);
    return (*count)++;
}

void hocket_window(struct call* call, MPI_Win window) {
    if (window == MPI_WIN_NULL) return;
    call->window = number_of(&windows, KEY(window), &num_windows);
    call->fields |= HOCKET_TRACE_WINDOW;
}

void hocket_window_group(struct call* call, MPI_Group group, MPI_Win window) {
    static int* ranks; /* read until the record is written, under the lock */
    static size_t capacity;
    MPI_Group all;
    int n = 0;
    hocket_window(call, window);
    PMPI_Group_size(group, &n);
    if (2 * (size_t)n > capacity) {
        int* grown = realloc(ranks, 2 * (size_t)n * sizeof *ranks);
        if (!grown) return;
        ranks = grown;
        capacity = 2 * (size_t)n;
    }
    if (n > 0) {
        for (int i = 0; i < n; ++i) ranks[n + i] = i;
        PMPI_Win_get_group(window, &all);
        PMPI_Group_translate_ranks(group, n, ranks + n, all, ranks);
        PMPI_Group_free(&all);
    }
    hocket_take_counts(call, 1, (struct counts){ranks, sizeof *ranks, NULL, MPI_BYTE, n});
    call->bytes = 0; /* not the sum of the ranks */
    call->fields |= HOCKET_TRACE_BYTES;
}

void hocket_forget_window(MPI_Win window) {
    struct entry* entry = hocket_table_find(&windows, KEY(window));
    if (entry) hocket_table_remove(&windows, entry);
}

void hocket_file(struct call* call, MPI_File file) {
    if (file == MPI_FILE_NULL) return;
    call->file = number_of(&files, KEY(file), &num_files);
    call->fields |= HOCKET_TRACE_FILE;
}

void hocket_forget_file(MPI_File file) {
    struct entry* entry = hocket_table_find(&files, KEY(file));
    if (entry) hocket_table_remove(&files, entry);
}
