// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <vector>

#include "hocket/search/broadcast.hpp"
#include "hocket/search/state.hpp"

namespace hocket::search {

/// What a search has found so far, shared by its threads, and whether it has to stop.
class Watch {
public:
    explicit Watch(const BroadcastOptions& options) : options_(options) {}

    [[nodiscard]] const BroadcastOptions& options() const { return options_; }
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    [[nodiscard]] std::int64_t makespan_ns() const { return makespan_ns_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t lower_bound_ns() const { return lower_bound_ns_.load(std::memory_order_relaxed); }
    /// Keeps a complete broadcast if it is the fastest so far.
    void keep(std::span<const Transfer> transfers, std::int64_t makespan_ns) {
        const std::scoped_lock lock(mutex_);
        if (makespan_ns >= makespan_ns_) return;
        makespan_ns_ = makespan_ns;
        transfers_.assign(transfers.begin(), transfers.end());
    }
    void keep(const State& state) {
        if (state.complete()) keep(state.transfers(), state.end_ns());
    }
    /// Proven for all broadcasts. More than the makespan is as much as it.
    void raise_lower_bound(std::int64_t bound_ns) {
        const std::scoped_lock lock(mutex_);
        lower_bound_ns_ = std::max(lower_bound_ns_.load(), std::min(bound_ns, makespan_ns_.load()));
    }
    [[nodiscard]] bool good_enough() const {
        return static_cast<double>(makespan_ns()) <= static_cast<double>(lower_bound_ns()) * (1 + options_.gap);
    }
    [[nodiscard]] std::span<const Transfer> transfers() const { return transfers_; }  ///< not while threads search
    std::vector<Transfer> take_transfers() { return std::move(transfers_); }

    void count_nodes(std::int64_t n) { num_nodes_ += n; }
    [[nodiscard]] std::int64_t num_nodes() const { return num_nodes_; }

    /// Whether the search has to end: it is good enough, or has used up its time or its nodes, or was asked to.
    [[nodiscard]] bool done() {
        if (stopped_ || good_enough()) return true;
        if (num_nodes_ >= options_.max_nodes || seconds() > options_.time_limit_s) stopped_ = true;
        return stopped_;
    }
    /// The same, and calls on_progress every tenth of a second: for the thread that called the search.
    [[nodiscard]] bool done_and_report() {
        if (const double now = seconds(); options_.on_progress && now >= next_s_) {
            next_s_ = now + 0.1;
            if (!options_.on_progress({makespan_ns(), lower_bound_ns(), num_nodes_, now})) stopped_ = true;
        }
        return done();
    }
    void stop() { stopped_ = true; }
    [[nodiscard]] bool stopped() const { return stopped_; }

private:
    using Clock = std::chrono::steady_clock;

    BroadcastOptions options_;
    Clock::time_point start_ = Clock::now();
    double next_s_ = 0.1;
    std::mutex mutex_;
    std::vector<Transfer> transfers_;
    std::atomic<std::int64_t> makespan_ns_ = never, lower_bound_ns_ = 0, num_nodes_ = 0;
    std::atomic<bool> stopped_ = false;
};

}  // namespace hocket::search
