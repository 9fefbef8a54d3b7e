// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <cstdint>

namespace hocket::simulation {

/// A barrier at which threads wait busily, for less than a microsecond where every thread has a core of its own
/// [Suzuki]. Those that wait longer go to sleep: what they wait for may be in need of this very core.
class SpinBarrier {
public:
    explicit SpinBarrier(std::int32_t num_threads) : num_threads_(num_threads) {}

    /// What any thread did before it is seen by all after it.
    void wait() {
        const std::uint32_t turn = turn_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == num_threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            turn_.store(turn + 1, std::memory_order_release);
            turn_.notify_all();
            return;
        }
        for (int i = 0; i < busy_turns; ++i) {
            if (turn_.load(std::memory_order_acquire) != turn) return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        turn_.wait(turn, std::memory_order_acquire);
    }

private:
    static constexpr int busy_turns = 2000;  // some tens of microseconds
    const std::int32_t num_threads_;
    alignas(64) std::atomic<std::int32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> turn_{0};
};

}  // namespace hocket::simulation
