// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/polling_engine.hpp"

#include "common/backoff.hpp"

namespace hocket::runtime {

void Task::complete() noexcept {
    Backoff backoff;
    for (State state = State::waiting; state != State::done;) {
        state = advance();
        if (state == State::moved) backoff.reset();
        if (state == State::waiting) backoff.pause();
    }
}

void Engine::wait(const Task& task) {
    wait_until([&] { return task.is_done(); });
}

void Engine::wait_until(const std::function<bool()>& holds) {
    Backoff backoff;
    while (!holds()) {
        if (help()) {
            backoff.reset();
        } else {
            backoff.pause();
        }
    }
}

void PollingEngine::start(Task& task) {
    Backoff backoff;
    while (is_full()) {
        if (!help()) backoff.pause();
    }
    begin(task);
    // What can be done at once is done here: its first messages leave now, and a short one may end.
    if (task.advance() == Task::State::done) return end(task);
    num_pending_.fetch_add(1);  // before the look whether the thread sleeps
    const std::lock_guard lock(arriving_);
    arrived_.push_back(&task);
    num_arrived_.store(arrived_.size(), std::memory_order_release);
}

void PollingEngine::collect() {
    if (num_arrived_.load(std::memory_order_acquire) == 0) return;
    const std::lock_guard lock(arriving_);
    tasks_.insert(tasks_.end(), arrived_.begin(), arrived_.end());
    arrived_.clear();
    num_arrived_.store(0, std::memory_order_relaxed);
}

bool PollingEngine::look() {
    collect();
    bool moved = false;
    std::size_t kept = 0;
    for (Task* const task : tasks_) {
        const Task::State state = task->advance();
        moved = moved || state != Task::State::waiting;
        if (state != Task::State::done) {
            tasks_[kept++] = task;
            continue;
        }
        num_pending_.fetch_sub(1, std::memory_order_release);
        end(*task);
    }
    tasks_.resize(kept);
    return moved;
}

bool PollingEngine::help() {
    if (num_pending() == 0) return false;
    const std::unique_lock lock(working, std::try_to_lock);
    return lock.owns_lock() && look();
}

void PollingEngine::drain() {
    Backoff backoff;
    while (num_pending() > 0) {
        if (!help()) backoff.pause();
    }
}

std::unique_ptr<Engine> make_function_engine(std::size_t capacity) { return std::make_unique<PollingEngine>(capacity); }

}  // namespace hocket::runtime
