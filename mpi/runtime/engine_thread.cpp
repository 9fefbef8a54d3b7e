// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/engine_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <exception>
#include <future>
#include <string>
#include <utility>

#include "hocket/base/error.hpp"
#include "runtime/engine.hpp"

namespace hocket::runtime {

namespace {

/// "0-3, 8": the cores that the process's control group has. Takes this thread off the ones that it was bound to.
std::string usable_cores() {
    cpu_set_t cores;
    for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &cores);
    sched_setaffinity(0, sizeof cores, &cores);  // the kernel takes away the others
    sched_getaffinity(0, sizeof cores, &cores);
    std::string text;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &cores)) continue;
        const int first = i;
        while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, &cores)) ++i;
        text += (text.empty() ? "" : ", ") + std::to_string(first) + (i > first ? "-" + std::to_string(i) : "");
    }
    return text;
}

/// Moves this thread to `core`; where none is idle it stays where the process may run.
void move_to(int core) {
    if (core == any_core) return;
    cpu_set_t wanted, own;
    CPU_ZERO(&wanted);
    if (core >= 0) {
        if (core < CPU_SETSIZE) CPU_SET(core, &wanted);
        if (sched_setaffinity(0, sizeof wanted, &wanted) == 0) return;
        throw InvalidInput("core " + std::to_string(core) + " cannot be used; accepted: " + usable_cores());
    }
    // The kernel takes away the cores that the process's control group does not have.
    if (sched_getaffinity(getpid(), sizeof own, &own) != 0) return;
    const long num_cores = sysconf(_SC_NPROCESSORS_CONF);
    for (int i = 0; i < num_cores && i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &own)) CPU_SET(i, &wanted);
    }
    if (CPU_COUNT(&wanted) == 0) return;
    sched_setaffinity(0, sizeof wanted, &wanted);
}

}  // namespace

EngineThread::EngineThread(std::function<void()> work, int core) {
    std::promise<void> moved;
    std::future<void> has_moved = moved.get_future();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread has the mask of the one that starts it
    try {
        thread_ = std::thread([work = std::move(work), core, moved = std::move(moved)]() mutable {
            pthread_setname_np(pthread_self(), "hocket");
            prctl(PR_SET_TIMERSLACK, 1UL);  // the usual slack of 50 us would double a short nap
            try {
                move_to(core);
            } catch (...) {
                return moved.set_exception(std::current_exception());
            }
            moved.set_value();
            work();
        });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    try {
        has_moved.get();
    } catch (...) {
        thread_.join();
        throw;
    }
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
