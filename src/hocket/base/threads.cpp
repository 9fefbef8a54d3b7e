// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/threads.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace hocket::base {
namespace {

constexpr std::size_t reserve_bytes = std::size_t{1} << 20;  // thread-local data takes less than a page

/// That of libstdc++. The store is volatile, for the function is declared pure.
void get_local_data() {
    [[maybe_unused]] volatile int num_exceptions;
    num_exceptions = std::uncaught_exceptions();
}

}  // namespace

std::int32_t run_on_threads(std::int32_t num_threads, const std::function<void(std::int32_t)>& work,
                            const std::function<void()>& meanwhile) {
    constexpr std::chrono::milliseconds pause{20};
    std::mutex mutex;
    std::condition_variable one_ended;
    std::int32_t running = 0;
    std::exception_ptr failure;
    const auto guarded = [&](const auto& call) {
        try {
            call();
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(num_threads));
    // A thread that finds no memory for its thread-local data ends the process (glibc, __tls_get_addr), also when it
    // throws bad_alloc later. So each gets that data first, from what is kept back for it here; the calling one too.
    get_local_data();
    std::condition_variable one_began, all_begin;
    std::int32_t begun = 0;
    bool all_are_there = false;
    for (std::int32_t t = 1; t < num_threads; ++t) {
        std::unique_ptr<void, void (*)(void*)> reserve(::operator new(reserve_bytes, std::nothrow),
                                                       [](void* bytes) { ::operator delete(bytes); });
        if (!reserve) break;
        std::unique_lock lock(mutex);
        try {
            threads.emplace_back([&, t] {
                get_local_data();
                {
                    std::unique_lock beginning(mutex);
                    ++begun;
                    one_began.notify_one();
                    all_begin.wait(beginning, [&] { return all_are_there; });
                }
                guarded([&] { work(t); });
                const std::lock_guard ending(mutex);
                --running;
                one_ended.notify_one();
            });
            ++running;
        } catch (const std::system_error&) {
            break;
        } catch (const std::bad_alloc&) {
            break;
        }
        reserve.reset();
        one_began.wait(lock, [&] { return begun == t; });
    }
    {
        const std::lock_guard lock(mutex);
        all_are_there = true;
        all_begin.notify_all();
    }
    guarded([&] { work(0); });
    for (std::unique_lock lock(mutex); !one_ended.wait_for(lock, pause, [&] { return running == 0; });) {
        lock.unlock();
        guarded(meanwhile);
        lock.lock();
    }
    const auto num_called = static_cast<std::int32_t>(threads.size()) + 1;
    threads.clear();  // waits for the last of their instructions
    if (failure) std::rethrow_exception(failure);
    return num_called;
}

}  // namespace hocket::base
