// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine.hpp"

namespace {

using hocket::runtime::Engine;
using hocket::runtime::Task;

/// Is done after so many looks, of which it moves in every other. Nothing in it is atomic: an engine lets one thread at
/// a time look, and shows its end to the one that waits.
class Countdown final : public Task {
public:
    State advance() noexcept override {
        ++num_looks;
        if (num_looks >= wanted) {
            if (on_end) on_end();
            return State::done;
        }
        return num_looks % 2 == 0 ? State::moved : State::waiting;
    }
    int wanted = 1;
    int num_looks = 0;
    std::function<void()> on_end;
};

struct Kind {
    const char* name;
    std::function<std::unique_ptr<Engine>(std::size_t)> make;
};

const std::vector<Kind>& kinds() {
    using namespace hocket::runtime;
    static const std::vector<Kind> all = {
        {"function", [](std::size_t capacity) { return make_function_engine(capacity); }},
        {"thread", [](std::size_t capacity) { return make_thread_engine(any_core, capacity); }},
        {"spinning", [](std::size_t capacity) { return make_spinning_engine(idle_core, capacity); }},
        {"queue", [](std::size_t capacity) { return make_queue_engine(0, capacity); }},
    };
    return all;
}

}  // namespace

TEST_CASE("Every engine ends every task once, and a task can be started again") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const auto engine = kind.make(hocket::runtime::default_capacity);
        std::mt19937 random(1);
        std::deque<Countdown> tasks(100);
        for (int round = 0; round < 3; ++round) {
            std::vector<int> ends(tasks.size());
            for (std::size_t i = 0; i < tasks.size(); ++i) {
                REQUIRE(tasks[i].is_done());
                tasks[i].wanted = 1 + static_cast<int>(random() % 50);
                tasks[i].num_looks = 0;
                tasks[i].on_end = [&ends, i] { ++ends[i]; };
                engine->start(tasks[i]);
                if (random() % 8 == 0) engine->help();
                if (random() % 8 == 0) engine->wait(tasks[random() % (i + 1)]);
            }
            engine->drain();
            CHECK(engine->num_pending() == 0);
            for (std::size_t i = 0; i < tasks.size(); ++i) {
                REQUIRE(tasks[i].is_done());
                CHECK(tasks[i].num_looks == tasks[i].wanted);
                CHECK(ends[i] == 1);
            }
        }
    }
}

TEST_CASE("Threads that start and wait at the same time") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const auto engine = kind.make(8);  // fewer than are started
        std::vector<std::thread> threads;
        std::atomic<int> num_wrong{0};
        for (unsigned seed = 0; seed < 4; ++seed) {
            threads.emplace_back([&, seed] {
                std::mt19937 random(seed);
                for (int round = 0; round < 50; ++round) {
                    std::deque<Countdown> tasks(1 + random() % 4);
                    for (Countdown& task : tasks) {
                        task.wanted = static_cast<int>(random() % 20);
                        engine->start(task);
                    }
                    for (Countdown& task : tasks) {
                        engine->wait(task);
                        if (task.num_looks != std::max(1, task.wanted)) ++num_wrong;
                    }
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(num_wrong == 0);
        CHECK(engine->num_pending() == 0);
    }
}

TEST_CASE("A queue carries out tasks in the order of their start") {
    const auto engine = hocket::runtime::make_queue_engine(hocket::runtime::any_core, 4);
    std::vector<int> order;
    std::deque<Countdown> tasks(20);
    for (int i = 0; i < 20; ++i) {
        Countdown& task = tasks[static_cast<std::size_t>(i)];
        task.wanted = 20 - i;
        task.on_end = [&order, i] { order.push_back(i); };
        engine->start(task);
    }
    engine->drain();
    REQUIRE(order.size() == 20);
    for (int i = 0; i < 20; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("A thread moves tasks on without a call, also after it has slept") {
    for (const Kind& kind : kinds()) {
        CAPTURE(kind.name);
        const auto engine = kind.make(hocket::runtime::default_capacity);
        if (kind.name == std::string("function")) continue;
        for (const int pause_ms : {0, 1, 20}) {
            Countdown task;
            task.wanted = 100;
            engine->start(task);
            while (!task.is_done()) std::this_thread::yield();
            CHECK(task.num_looks == 100);
            std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
        }
        CHECK(engine->thread_cpu_s() > 0);
    }
}
