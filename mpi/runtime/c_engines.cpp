// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/c_engines.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/backoff.hpp"
#include "runtime/c_status.hpp"

using namespace hocket;
using namespace hocket::runtime;

namespace {

std::mutex engines_mutex;
std::vector<hocket_engine*> engines;

std::unique_ptr<Engine> make_engine(std::string_view kind, int core, std::size_t capacity) {
    if (kind == "function") return make_function_engine(capacity);
    if (kind == "thread") return make_thread_engine(core, capacity);
    if (kind == "spin") return make_spinning_engine(core, capacity);
    return make_queue_engine(core, capacity);
}

}  // namespace

bool hocket::runtime::help_all() {
    const std::lock_guard lock(engines_mutex);
    bool moved = false;
    for (hocket_engine* const engine : engines) {
        if (!engine->has_thread && engine->engine->help()) moved = true;
    }
    return moved;
}

bool hocket::runtime::needs_help() {
    const std::lock_guard lock(engines_mutex);
    return std::any_of(engines.begin(), engines.end(), [](const hocket_engine* engine) {
        return !engine->has_thread && engine->engine->num_pending() > 0;
    });
}

void hocket::runtime::wait_for(hocket_engine* engine, const Task& task) {
    if (engine == nullptr || task.is_done()) return;
    const bool is_alone = [&] {
        const std::lock_guard lock(engines_mutex);
        return std::none_of(engines.begin(), engines.end(), [&](const hocket_engine* other) {
            return other != engine && !other->has_thread && other->engine->num_pending() > 0;
        });
    }();
    if (is_alone) return engine->engine->wait(task);
    Backoff backoff;
    while (!task.is_done()) {
        const bool moved = engine->engine->help();
        if (help_all() || moved) {
            backoff.reset();
        } else if (!task.is_done()) {
            backoff.pause();
        }
    }
}

void hocket::runtime::drain(hocket_engine& engine) {
    Backoff backoff;
    while (engine.engine->num_pending() > 0) {
        const bool moved = engine.engine->help();
        if (!help_all() && !moved) backoff.pause();
    }
}

void hocket::runtime::start_in(hocket_engine& engine, Task& task) {
    Backoff backoff;
    while (engine.engine->is_full()) {
        const bool moved = engine.engine->help();
        if (help_all() || moved) {
            backoff.reset();
        } else {
            backoff.pause();
        }
    }
    engine.engine->start(task);
}

hocket_status hocket_engine_create(const hocket_engine_parameters* parameters, hocket_engine** engine) {
    return guarded([&] {
        require_argument(parameters != nullptr && engine != nullptr, "an argument is NULL");
        require_argument(parameters->struct_size >= sizeof(hocket_engine_parameters), "struct_size is too small");
        const std::string_view kind = parameters->kind == nullptr ? "" : parameters->kind;
        const bool is_function = kind == "function";
        if (!is_function && kind != "thread" && kind != "spin" && kind != "queue") {
            throw InvalidInput("engine \"" + std::string(kind) + "\"; accepted: function, thread, spin, queue");
        }
        require_argument(parameters->core >= HOCKET_CORE_IDLE,
                         "core: accepted are HOCKET_CORE_ANY, HOCKET_CORE_IDLE and numbers");
        require_argument(parameters->capacity >= 0, "the capacity is negative");
        int level = MPI_THREAD_SINGLE;
        require(PMPI_Query_thread(&level));
        if (!is_function && level != MPI_THREAD_MULTIPLE) return fail(HOCKET_ERROR_THREAD_LEVEL);
        const auto capacity =
            parameters->capacity == 0 ? default_capacity : static_cast<std::size_t>(parameters->capacity);
        auto made = std::make_unique<hocket_engine>(
            hocket_engine{make_engine(kind, parameters->core, capacity), !is_function, kind == "queue"});
        const std::lock_guard lock(engines_mutex);
        engines.push_back(made.get());
        *engine = made.release();
        return HOCKET_OK;
    });
}

hocket_status hocket_engine_free(hocket_engine* engine) {
    return guarded([&] {
        const std::unique_ptr<hocket_engine> owned(engine);
        if (!owned) return HOCKET_OK;
        drain(*owned);
        const std::lock_guard lock(engines_mutex);
        std::erase(engines, engine);
        return HOCKET_OK;
    });
}

hocket_status hocket_engine_get_cpu(hocket_engine* engine, double* seconds) {
    return guarded([&] {
        require_argument(engine != nullptr && seconds != nullptr, "an argument is NULL");
        *seconds = engine->engine->thread_cpu_s();
        return HOCKET_OK;
    });
}

hocket_status hocket_progress(hocket_engine* engine) {
    return guarded([&] {
        require_argument(engine != nullptr, "no engine given");
        engine->engine->help();
        return HOCKET_OK;
    });
}

hocket_status hocket_finalize(void) {
    return guarded([&] {
        const std::vector<hocket_engine*> all = [] {
            const std::lock_guard lock(engines_mutex);
            return engines;
        }();
        for (hocket_engine* const engine : all) drain(*engine);
        return HOCKET_OK;
    });
}
