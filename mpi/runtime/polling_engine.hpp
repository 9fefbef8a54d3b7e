// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/engine.hpp"

namespace hocket::runtime {

/// Looks at every pending task in turn, in the calls of the program alone.
class PollingEngine : public Engine {
public:
    explicit PollingEngine(std::size_t capacity) : capacity_(capacity) {
        tasks_.reserve(std::min(capacity, default_capacity));
    }

    void start(Task& task) override;
    bool help() override;
    void drain() override;
    [[nodiscard]] std::size_t num_pending() const override { return num_pending_.load(); }
    [[nodiscard]] bool is_full() const override { return num_pending() >= capacity_; }

protected:
    /// One look at each task. True if anything moved. The caller holds `working`.
    bool look();

    std::mutex working;  ///< held by the thread that moves tasks on

private:
    void collect();

    const std::size_t capacity_;
    std::atomic<std::size_t> num_pending_{0};
    std::vector<Task*> tasks_;  // guarded by `working`
    std::mutex arriving_;
    std::atomic<std::size_t> num_arrived_{0};
    std::vector<Task*>
        arrived_;  // guarded by `arriving_`: who starts a task does not wait for a look that copies megabytes
};

}  // namespace hocket::runtime
