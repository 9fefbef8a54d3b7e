// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <condition_variable>
#include <deque>
#include <mutex>

#include "runtime/engine.hpp"
#include "runtime/engine_thread.hpp"

namespace hocket::runtime {

namespace {

class QueueEngine final : public Engine {
public:
    QueueEngine(int core, std::size_t capacity) : capacity_(capacity), thread_([this] { run(); }, core) {}
    ~QueueEngine() override {
        {
            const std::lock_guard lock(mutex_);
            stops_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    void start(Task& task) override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return queue_.size() < capacity_; });
        begin(task);
        queue_.push_back(&task);
        lock.unlock();
        changed_.notify_all();
    }
    bool help() override { return false; }
    void wait(const Task& task) override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return task.is_done(); });
    }
    void drain() override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return queue_.empty(); });
    }
    [[nodiscard]] std::size_t num_pending() const override {
        const std::lock_guard lock(mutex_);
        return queue_.size();
    }
    [[nodiscard]] bool is_full() const override { return num_pending() >= capacity_; }
    [[nodiscard]] double thread_cpu_s() const override { return thread_.cpu_s(); }

private:
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return stops_ || !queue_.empty(); });
            if (queue_.empty()) return;
            Task& task = *queue_.front();
            lock.unlock();
            task.complete();
            lock.lock();
            queue_.pop_front();
            end(task);
            changed_.notify_all();
        }
    }

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task*> queue_;  // guarded; the front one is under way
    bool stops_ = false;
    EngineThread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Engine> make_queue_engine(int core, std::size_t capacity) {
    return std::make_unique<QueueEngine>(core, capacity);
}

}  // namespace hocket::runtime
