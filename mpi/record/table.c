/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Open addressing with linear probing. Removal shifts back what follows, so that there are no tombstones and entries of
 * one key keep their order. */
#include <stdlib.h>

#include "record.h"

static uint32_t home(const struct table* table, uint64_t key) {
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->capacity - 1);
}

struct entry* hocket_table_find(const struct table* table, uint64_t key) {
    if (table->count == 0) return NULL;
    for (uint32_t i = home(table, key); table->entries[i].used; i = (i + 1) & (table->capacity - 1)) {
        if (table->entries[i].key == key) return &table->entries[i];
    }
    return NULL;
}

static void place(struct table* table, const struct entry* entry) {
    uint32_t i = home(table, entry->key);
    while (table->entries[i].used) i = (i + 1) & (table->capacity - 1);
    table->entries[i] = *entry;
}

int hocket_table_insert(struct table* table, uint64_t key, uint64_t value, uint32_t kind) {
    if (2 * (table->count + 1) > table->capacity) {
        const struct table old = *table;
        const uint32_t capacity = old.capacity ? 2 * old.capacity : 64;
        struct entry* entries = calloc(capacity, sizeof *entries);
        if (!entries) return 0;
        table->entries = entries;
        table->capacity = capacity;
        /* From the start of a probe run, so that entries of one key keep their order across the wrap-around. */
        uint32_t first = 0;
        while (first < old.capacity && old.entries[first].used) ++first;
        for (uint32_t k = 1; k <= old.capacity; ++k) {
            const struct entry* entry = &old.entries[(first + k) & (old.capacity - 1)];
            if (entry->used) place(table, entry);
        }
        free(old.entries);
    }
    const struct entry entry = {key, value, kind, 1};
    place(table, &entry);
    ++table->count;
    return 1;
}

void hocket_table_remove(struct table* table, struct entry* entry) {
    const uint32_t mask = table->capacity - 1;
    uint32_t hole = (uint32_t)(entry - table->entries);
    for (uint32_t i = (hole + 1) & mask; table->entries[i].used; i = (i + 1) & mask) {
        /* May move back only if its home is not between the hole and itself. */
        if (((i - home(table, table->entries[i].key)) & mask) < ((i - hole) & mask)) continue;
        table->entries[hole] = table->entries[i];
        hole = i;
    }
    table->entries[hole].used = 0;
    --table->count;
}
