// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPICH waits by asking its connections again and again, also where the message would come through shared memory: UCX
// calls epoll_wait without a time-out, or, where all ranks are on one host, only looks into that memory. MPICH 4.0
// never gives its core away meanwhile, and 5.0 only where a host has one rank. On a testbed ranks share cores, and the
// rank that waits keeps the one from running that would send. So a question without an answer yields, if it follows
// another such at once and the program has not yielded in between. A program that computes between its calls of
// MPI_Test keeps its core.

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

void found_nothing() {
    if (now_ns() - last_question_ns < at_once_ns) yield();
    last_question_ns = now_ns();
}

/// As the library that has `address` finds it: a plug-in brings libraries of its own, which dlsym(RTLD_NEXT) does not
/// see.
void* found_by(void* address, const char* name) {
    Dl_info library{};
    if (dladdr(address, &library) == 0) return nullptr;
    void* opened = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return opened == nullptr ? nullptr : dlsym(opened, name);
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
    found_nothing();
    return found;
}

/// UCX's function by which all of its connections are asked; 0 if nothing has come.
HOCKET_EXPORTED unsigned ucp_worker_progress(void* worker) {
    using Progress = unsigned (*)(void*);
    static Progress next = nullptr;
    if (next == nullptr) next = next_of<Progress>("ucp_worker_progress");
    if (next == nullptr)
        next = reinterpret_cast<Progress>(found_by(__builtin_return_address(0), "ucp_worker_progress"));
    const std::int64_t before = last_question_ns;
    const unsigned found = next(worker);
    if (found == 0 && last_question_ns == before)
        found_nothing();  // otherwise epoll_wait or sched_yield was called meanwhile
    return found;
}
