// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>

namespace hocket::runtime {

/// Communication under way. It belongs to whoever made it; an engine only makes it move on.
class Task {
public:
    Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual ~Task() = default;

    enum class State { waiting, moved, done };
    /// Moves on without waiting for anybody. One thread at a time calls it, and none after `done`.
    virtual State advance() noexcept = 0;
    /// Carries it out to its end, waiting inside: for an engine that makes one call after another.
    virtual void complete() noexcept;

    /// Whether it has ended. From then on no engine touches it, and its owner may destroy it or start it again.
    [[nodiscard]] bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }

private:
    friend class Engine;
    std::atomic<bool> done_{true};
};

}  // namespace hocket::runtime
