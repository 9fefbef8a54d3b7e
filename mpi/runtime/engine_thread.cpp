// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/engine_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "runtime/engine.hpp"

namespace hocket::runtime {

namespace {

/// Moves this thread to `core`; where that is not allowed or there is none it stays where the process may run.
void move_to(int core) {
    if (core == any_core) return;
    cpu_set_t wanted, own;
    CPU_ZERO(&wanted);
    if (core >= 0) {
        if (core >= CPU_SETSIZE) return;
        CPU_SET(core, &wanted);
    } else {
        // The kernel takes away the cores that the process's control group does not have.
        if (sched_getaffinity(getpid(), sizeof own, &own) != 0) return;
        const long num_cores = sysconf(_SC_NPROCESSORS_CONF);
        for (int i = 0; i < num_cores && i < CPU_SETSIZE; ++i) {
            if (!CPU_ISSET(i, &own)) CPU_SET(i, &wanted);
        }
        if (CPU_COUNT(&wanted) == 0) return;
    }
    sched_setaffinity(0, sizeof wanted, &wanted);
}

}  // namespace

EngineThread::EngineThread(std::function<void()> work, int core) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread has the mask of the one that starts it
    try {
        thread_ = std::thread([work = std::move(work), core] {
            pthread_setname_np(pthread_self(), "hocket");
            prctl(PR_SET_TIMERSLACK, 1UL);  // the usual slack of 50 us would double a short nap
            move_to(core);
            work();
        });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

double EngineThread::cpu_s() const {
    clockid_t clock{};
    timespec used{};
    // The handle stays valid until the thread is joined, which its engine does at its end.
    if (pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0) return 0;
    return clock_gettime(clock, &used) != 0
               ? 0
               : static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace hocket::runtime
