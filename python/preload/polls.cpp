// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPICH waits by asking its connections again and again, also where the message would come through shared memory: UCX calls
// epoll_wait without a time-out. MPICH 4.0 never gives its core away meanwhile, and 5.0 only where a host has one rank. On a testbed ranks
// share cores, and the rank that waits keeps the one from running that would send. So a question without an answer yields, if it
// follows another such at once and the program has not yielded in between. A program that computes between its calls of MPI_Test keeps its
// core.

#include <dlfcn.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

#include <cstdint>

#define HOCKET_EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

/// Questions of one wait are 1 to 3 us apart.
constexpr std::int64_t at_once_ns = 10'000;

thread_local std::int64_t last_question_ns = 0;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

template <class Function>
Function next_of(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int yield() {
    static int (*next)() = nullptr;  // all threads find the same
    if (next == nullptr) next = next_of<int (*)()>("sched_yield");
    return next();
}

}  // namespace

HOCKET_EXPORTED int sched_yield() noexcept {
    last_question_ns = 0;
    return yield();
}

HOCKET_EXPORTED int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
    using EpollWait = int (*)(int, epoll_event*, int, int);
    static EpollWait next = nullptr;
    if (next == nullptr) next = next_of<EpollWait>("epoll_wait");
    const int found = next(epoll, events, most, timeout_ms);
    if (found != 0 || timeout_ms != 0) return found;
    if (now_ns() - last_question_ns < at_once_ns) yield();
    last_question_ns = now_ns();
    return found;
}
