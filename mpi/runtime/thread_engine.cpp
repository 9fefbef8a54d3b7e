// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <thread>

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "runtime/engine_thread.hpp"
#include "runtime/polling_engine.hpp"

namespace hocket::runtime {

namespace {

// A thread that always looks takes the core from the program where they share one: 1.13 times instead of 1.33 to 1.59
// times as fast as without overlap. So it looks again after a fraction of the time for which nothing moved. In the
// longest nap a network of 1 Gbit/s fills 25 KB of the socket buffers, and naps are long beside a look that found
// nothing.
constexpr std::int64_t spin_ns = 5'000;
constexpr std::int64_t engine_nap_fraction = 4;
constexpr std::int64_t min_nap_ns = 20'000;
constexpr std::int64_t max_engine_nap_ns = 200'000;
constexpr std::int64_t nap_per_look = 12;

// To wake a sleeping thread costs the program more than a small collective. So it naps for a while before it sleeps.
constexpr std::int64_t linger_ns = 5'000'000;

void nap(std::int64_t duration_ns) {
    const timespec duration{0, duration_ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

class ThreadEngine final : public PollingEngine {
public:
    ThreadEngine(int core, std::size_t capacity, bool spins)
        : PollingEngine(capacity), spins_(spins), thread_([this] { run(); }, core) {}
    ~ThreadEngine() override {
        {
            const std::lock_guard lock(sleeping_);
            stops_.store(true, std::memory_order_release);
        }
        wake_.notify_one();
        thread_.join();
    }

    void start(Task& task) override {
        PollingEngine::start(task);
        if (task.is_done() || !sleeps_.load()) return;
        const std::lock_guard lock(sleeping_);
        wake_.notify_one();
    }
    void wait_until(const std::function<bool()>& holds) override {
        num_waiting_.fetch_add(1, std::memory_order_relaxed);
        PollingEngine::wait_until(holds);
        num_waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] double thread_cpu_s() const override { return thread_.cpu_s(); }

private:
    void run();
    void sleep();

    const bool spins_;
    std::atomic<int> num_waiting_{0};
    std::atomic<bool> stops_{false};
    std::atomic<bool> sleeps_{false};
    std::mutex sleeping_;
    std::condition_variable wake_;
    EngineThread thread_;  // last: it uses all of the above
};

void ThreadEngine::run() {
    std::int64_t moved_at_ns = now_ns();
    while (!stops_.load(std::memory_order_acquire)) {
        const std::int64_t begin_ns = now_ns();
        if (num_pending() == 0) {
            if (begin_ns - moved_at_ns < linger_ns) {
                nap(max_engine_nap_ns);
            } else {
                sleep();
                moved_at_ns = now_ns();
            }
            continue;
        }
        // Who waits looks himself.
        if (num_waiting_.load(std::memory_order_relaxed) > 0) {
            nap(max_engine_nap_ns);
            continue;
        }
        bool moved = false;
        {
            const std::unique_lock lock(working, std::try_to_lock);
            moved = lock.owns_lock() && look();
        }
        if (spins_) continue;
        const std::int64_t end_ns = now_ns();
        if (moved) moved_at_ns = end_ns;
        const std::int64_t still_ns = end_ns - moved_at_ns;
        if (still_ns < spin_ns) continue;
        const std::int64_t short_nap_ns = std::clamp(still_ns / engine_nap_fraction, min_nap_ns, max_engine_nap_ns);
        const std::int64_t long_nap_ns =
            moved ? 0 : std::max((end_ns - begin_ns) * nap_per_look, still_ns / long_nap_fraction);
        nap(std::max(short_nap_ns, std::min(long_nap_ns, max_long_nap_ns)));
    }
}

void ThreadEngine::sleep() {
    std::unique_lock lock(sleeping_);
    sleeps_.store(true);  // before the look whether anything is pending
    wake_.wait(lock, [this] { return num_pending() > 0 || stops_.load(std::memory_order_acquire); });
    sleeps_.store(false, std::memory_order_relaxed);
}

}  // namespace

std::unique_ptr<Engine> make_thread_engine(int core, std::size_t capacity) {
    return std::make_unique<ThreadEngine>(core, capacity, false);
}

std::unique_ptr<Engine> make_spinning_engine(int core, std::size_t capacity) {
    return std::make_unique<ThreadEngine>(core, capacity, true);
}

}  // namespace hocket::runtime
