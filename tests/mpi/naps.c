// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A rank that gives its core away again and again naps instead: tests run more ranks than there are cores, and what
// the ranks that wait take is most of what a test takes. MPIs call sched_yield while they wait; where they do not,
// python/preload does, which is preloaded before this.

#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE_NS = 20000, YIELDS = 50, NAP_NS = 20000 };

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int sched_yield(void) {
    static _Thread_local long long last_ns;
    static _Thread_local int in_vain;
    in_vain = now_ns() - last_ns < AT_ONCE_NS ? in_vain + 1 : 0;
    if (in_vain > YIELDS)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    else
        syscall(SYS_sched_yield);
    last_ns = now_ns();
    return 0;
}
