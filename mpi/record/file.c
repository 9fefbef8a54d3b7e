/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The trace file: blocks in windows of a map that moves forward. What is in the map is in the kernel's hands: it
 * survives whatever kills the process, SIGKILL among it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

#define WINDOW_BYTES ((size_t)1 << 20)

static int file = -1; /* -1 while open: scratch memory */
static struct window window;
static struct hocket_trace_block* block; /* in the window; NULL: none was begun */
static off_t block_offset;               /* of the block in the file, or of the next one */

double hocket_file_ns_per_byte;
uint32_t hocket_file_window;

int hocket_file_open(const char* path, int32_t rank, int32_t num_ranks) {
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return 0;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* The header stays mapped: it shows at any time which call the rank is in. */
    struct window first;
    if (!hocket_window_map(file, 0, page, &first)) return 0;
    struct hocket_trace_header* header = (void*)first.bytes;
    header->version = HOCKET_TRACE_VERSION;
    header->header_bytes = sizeof *header;
    header->rank = rank;
    header->num_ranks = num_ranks;
    header->process = (uint32_t)getpid();
    gethostname(header->host, sizeof header->host - 1);
    const int64_t start_ns = hocket_clock_ns();
    if (!hocket_window_move(file, 0, WINDOW_BYTES, &window)) return 0;
    hocket_file_ns_per_byte = (double)(hocket_clock_ns() - start_ns) / (double)WINDOW_BYTES;
    memcpy(header->magic, HOCKET_TRACE_MAGIC, sizeof header->magic);
    block = NULL;
    block_offset = sizeof *header;
    hocket_state.header = header;
    return 1;
}

void hocket_file_discard(void) {
    static struct hocket_trace_header scratch;
    file = -1;
    hocket_state.header = &scratch;
    block = NULL;
    block_offset = 0;
}

/* Blocks end at multiples of HOCKET_TRACE_BLOCK_BYTES, so that those of usual size fill a window. */
static int begin_block(size_t bytes) {
    const off_t start = block ? block_offset + (off_t)block->size : block_offset;
    const off_t least = start + (off_t)(sizeof *block + bytes);
    const off_t end = (least + HOCKET_TRACE_BLOCK_BYTES - 1) / HOCKET_TRACE_BLOCK_BYTES * HOCKET_TRACE_BLOCK_BYTES;
    if (!window.bytes || end > window.offset + (off_t)window.size) {
        const off_t page = (off_t)sysconf(_SC_PAGESIZE), offset = start / page * page;
        const size_t need = (size_t)(end - offset);
        if (!hocket_window_move(file, offset, need > WINDOW_BYTES ? need : WINDOW_BYTES, &window)) return 0;
        ++hocket_file_window;
    }
    const off_t window_end = window.offset + (off_t)window.size;
    if (end > window_end - (off_t)(window.size / 4)) hocket_window_prepare(file, window_end, WINDOW_BYTES);
    block = (void*)(window.bytes + (start - window.offset));
    block_offset = start;
    block->used = 0;
    block->calls = hocket_state.num_calls;
    __atomic_store_n(&block->size, (uint32_t)(end - start), __ATOMIC_RELEASE);
    return 1;
}

/* Room for a record behind the others, or NULL when there is none: then recording ends. */
unsigned char* hocket_file_reserve(size_t bytes) {
    if (!block || block->used + bytes > block->size - sizeof *block) {
        if (bytes > UINT32_MAX / 2 || !begin_block(bytes)) return NULL;
    }
    return (unsigned char*)(block + 1) + block->used;
}

/* Makes what ends there a part of the trace: until then a reader sees the end of the records before it. */
void hocket_file_commit(const unsigned char* end) {
    __atomic_store_n(&block->used, (uint32_t)(end - (unsigned char*)(block + 1)), __ATOMIC_RELEASE);
}

uint64_t hocket_file_bytes(void) { return (uint64_t)block_offset + (block ? sizeof *block + block->used : 0); }

void hocket_file_close(void) {
    const off_t end = (off_t)hocket_file_bytes();
    if (block) block->size = (uint32_t)sizeof *block + block->used;
    block = NULL;
    hocket_windows_end(&window);
    if (file < 0) return;
    /* The header stays mapped, a page: the main thread may be about to write into it, and knows nothing of this. */
    /* A trace with zeros behind its footer is still right: nothing to do where this fails. */
    if (ftruncate(file, end) != 0) {
    }
    close(file);
    file = -1;
}
