/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Windows of a file, mapped one after the other. Space is allocated before it is mapped, because a write into a map
 * without space behind it raises SIGBUS in the program. All this takes time, so a thread does it ahead, has the kernel
 * begin to write what lies behind, and unmaps it. The thread begins with the second window: short traces have none. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; refused by earlier ones, which fault pages in as they are written */
#endif

static struct {
    pthread_t thread;
    int has_thread, is_asked; /* asked: `next` is the thread's until `done` */
    int stop, file;
    sem_t asked, done;
    struct window next, gone;
} ahead;

int hocket_window_map(int file, off_t offset, size_t size, struct window* window) {
    void* map;
    if (file >= 0) {
        /* Unlike the others it returns its error and leaves errno as it was. */
        errno = posix_fallocate(file, offset, (off_t)size);
        if (errno != 0) return 0;
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, offset);
    } else {
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    }
    if (map == MAP_FAILED) return 0;
    *window = (struct window){map, offset, size};
    return 1;
}

static void unmap(struct window* window) {
    if (window->bytes) munmap(window->bytes, window->size);
    window->bytes = NULL;
}

static void* work(void* unused) {
    (void)unused;
    for (;;) {
        while (sem_wait(&ahead.asked) != 0) {
        }
        if (ahead.stop) return NULL;
        if (ahead.gone.bytes) {
            sync_file_range(ahead.file, ahead.gone.offset, (off_t)ahead.gone.size, SYNC_FILE_RANGE_WRITE);
            unmap(&ahead.gone);
        }
        const struct window wanted = ahead.next;
        if (!hocket_window_map(ahead.file, wanted.offset, wanted.size, &ahead.next)) ahead.next.bytes = NULL;
        if (ahead.next.bytes) madvise(ahead.next.bytes, ahead.next.size, MADV_POPULATE_WRITE);
        sem_post(&ahead.done);
    }
}

/* The program's signals are not for this thread. */
static void start_thread(void) {
    sigset_t all, before;
    if (sem_init(&ahead.asked, 0, 0) != 0 || sem_init(&ahead.done, 0, 0) != 0) return;
    ahead.stop = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ahead.has_thread = pthread_create(&ahead.thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void hocket_window_prepare(int file, off_t offset, size_t size) {
    if (file < 0 || ahead.is_asked) return;
    if (!ahead.has_thread) start_thread();
    if (!ahead.has_thread) return;
    ahead.file = file;
    ahead.next = (struct window){NULL, offset, size};
    ahead.is_asked = 1;
    sem_post(&ahead.asked);
}

static void wait_for_thread(void) {
    if (!ahead.is_asked) return;
    while (sem_wait(&ahead.done) != 0) {
    }
    ahead.is_asked = 0;
}

int hocket_window_move(int file, off_t offset, size_t size, struct window* window) {
    struct window found = {NULL, 0, 0};
    wait_for_thread();
    if (ahead.next.bytes && ahead.next.offset == offset && ahead.next.size >= size) {
        found = ahead.next;
        ahead.next.bytes = NULL;
    }
    unmap(&ahead.next);
    if (!found.bytes && !hocket_window_map(file, offset, size, &found)) return 0;
    if (ahead.has_thread) {
        unmap(&ahead.gone);
        ahead.gone = *window;
    } else {
        unmap(window);
    }
    *window = found;
    return 1;
}

void hocket_windows_end(struct window* window) {
    wait_for_thread();
    if (ahead.has_thread) {
        ahead.stop = 1;
        sem_post(&ahead.asked);
        pthread_join(ahead.thread, NULL);
        ahead.has_thread = 0;
    }
    unmap(&ahead.next);
    unmap(&ahead.gone);
    unmap(window);
}
