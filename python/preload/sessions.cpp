// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Launchers start ranks in sessions of their own. Where autogroups are on (sched(7)), Linux shares the cores between
// sessions: a rank that gives its core away (sched_yield) gives it to others of its session alone, where there are
// none, and spins as if it did not yield. So on a testbed no process leaves the session. It gets the process group that
// it would have had, which launchers signal.

#include <errno.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) pid_t setsid() noexcept {
    const pid_t own = getpid();
    if (getpgrp() == own) {
        errno = EPERM;  // as setsid(2) says
        return -1;
    }
    return setpgid(0, 0) == 0 ? own : -1;
}
