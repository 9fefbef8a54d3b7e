// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/threads.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace hocket::base {

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
    for (std::int32_t t = 1; t < num_threads; ++t) {
        const std::lock_guard lock(mutex);
        try {
            threads.emplace_back([&, t] {
                guarded([&] { work(t); });
                const std::lock_guard ending(mutex);
                --running;
                one_ended.notify_one();
            });
            ++running;
        } catch (const std::system_error&) {
            break;
        }
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
