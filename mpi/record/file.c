/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The trace file, mapped through a window that moves forward. What is in the map is in the kernel's hands: it survives
 * whatever kills the process, SIGKILL among it. Space is allocated before it is mapped, because a write into a map
 * without space behind it raises SIGBUS in the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

#define WINDOW_BYTES ((size_t)1 << 20)

static int file = -1; /* -1 while open: scratch memory */
static unsigned char* window;
static size_t window_bytes;
static size_t position; /* in the window */
static off_t window_offset;

double hocket_file_ns_per_byte;
uint32_t hocket_file_window;

/* Unlike the others it returns its error and leaves errno as it was. */
static int allocate(off_t offset, size_t bytes) {
    errno = posix_fallocate(file, offset, (off_t)bytes);
    return errno == 0;
}

static int map_window(off_t offset, size_t bytes) {
    const int64_t start_ns = hocket_clock_ns();
    void* map;
    if (file >= 0) {
        if (!allocate(offset, bytes)) return 0;
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, offset);
    } else {
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    }
    if (map == MAP_FAILED) return 0;
    if (window) munmap(window, window_bytes);
    window = map;
    window_bytes = bytes;
    window_offset = offset;
    ++hocket_file_window;
    hocket_file_ns_per_byte = (double)(hocket_clock_ns() - start_ns) / (double)bytes;
    return 1;
}

int hocket_file_open(const char* path, int32_t rank, int32_t num_ranks) {
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return 0;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!allocate(0, page)) return 0;
    /* The header stays mapped: it says at any time which call the rank is in. */
    struct hocket_trace_header* header = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (header == MAP_FAILED) return 0;
    header->version = HOCKET_TRACE_VERSION;
    header->header_bytes = sizeof *header;
    header->rank = rank;
    header->num_ranks = num_ranks;
    header->process = (uint32_t)getpid();
    gethostname(header->host, sizeof header->host - 1);
    if (!map_window(0, WINDOW_BYTES)) return 0;
    memcpy(header->magic, HOCKET_TRACE_MAGIC, sizeof header->magic);
    position = sizeof *header;
    hocket_state.header = header;
    return 1;
}

void hocket_file_discard(void) {
    static struct hocket_trace_header scratch;
    file = -1;
    hocket_state.header = &scratch;
    if (!map_window(0, WINDOW_BYTES)) window_bytes = 0;
    position = 0;
}

/* Room for a record at the end of the file, or NULL when there is none: then recording ends. */
unsigned char* hocket_file_reserve(size_t bytes) {
    if (position + bytes > window_bytes) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        const size_t keep = position % page;
        const off_t offset = window_offset + (off_t)(position - keep);
        const size_t need = (keep + bytes + page - 1) / page * page;
        if (!map_window(offset, need > WINDOW_BYTES ? need : WINDOW_BYTES)) return NULL;
        position = keep;
    }
    return window + position;
}

/* Gives the record its length, last of all: until then a reader sees the end of the trace here. */
void hocket_file_commit(size_t bytes) {
    __atomic_store_n((uint32_t*)(void*)(window + position), (uint32_t)bytes, __ATOMIC_RELEASE);
    position += bytes;
}

uint64_t hocket_file_bytes(void) { return (uint64_t)window_offset + position; }

void hocket_file_close(void) {
    const off_t end = window_offset + (off_t)position;
    if (window) munmap(window, window_bytes);
    window = NULL;
    window_bytes = position = 0;
    window_offset = 0;
    if (file < 0) return;
    /* The header stays mapped, a page: the main thread may be about to write into it, and knows nothing of this. */
    /* A trace with zeros behind its footer is still right: nothing to do where this fails. */
    if (ftruncate(file, end) != 0) {
    }
    close(file);
    file = -1;
}
