// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "runtime/task.hpp"

namespace hocket::runtime {

/// Makes tasks move on: in the calls of the program, in a thread beside it, or one after another ([Nanri15, sec. 3]
/// compares the three). Any thread may call any function.
class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    /// All tasks must have ended: drain().
    virtual ~Engine() = default;

    /// Begins to move `task` on. It must live until it is done. While as many tasks are pending as the engine holds,
    /// waits for one.
    virtual void start(Task& task) = 0;
    /// Moves on what is pending, unless another thread is just doing so. Does not wait. True if anything moved.
    virtual bool help() = 0;
    /// Until `task` is done. The caller's core is free for it: it helps.
    virtual void wait(const Task& task);
    /// Until `holds` returns true, which is called between looks at the tasks.
    virtual void wait_until(const std::function<bool()>& holds);
    /// Until nothing is pending.
    virtual void drain() = 0;

    [[nodiscard]] virtual std::size_t num_pending() const = 0;
    /// Whether start() would wait.
    [[nodiscard]] virtual bool is_full() const = 0;
    /// CPU time that the engine's own thread has used, seconds; 0 without one.
    [[nodiscard]] virtual double thread_cpu_s() const { return 0; }

protected:
    static void begin(Task& task) { task.done_.store(false, std::memory_order_relaxed); }
    /// The last that an engine does with a task.
    static void end(Task& task) { task.done_.store(true, std::memory_order_release); }
};

/// Tasks that an engine holds at once, unless asked otherwise: more than programs have in flight, and few enough to
/// poll all.
constexpr std::size_t default_capacity = 1024;

/// Where the thread of an engine runs. A number is that core.
enum Core : int {
    any_core = -1,   ///< where the process may run: it shares a core with the program, or not, as the kernel decides
    idle_core = -2,  ///< one that this process's ranks are not bound to, where there is one; else as any_core
};

/// Moves tasks on when the program calls: needs no thread, and no thread level above the program's own.
std::unique_ptr<Engine> make_function_engine(std::size_t capacity = default_capacity);

/// Moves tasks on in a thread that naps between looks, and sleeps when nothing is pending. Needs MPI_THREAD_MULTIPLE
/// for tasks that call MPI. @throws std::system_error  if no thread can be started  @throws InvalidInput  if the
/// process cannot use the core
std::unique_ptr<Engine> make_thread_engine(int core = any_core, std::size_t capacity = default_capacity);

/// A thread that never naps, as asynchronous progress of the MPIs does: to compare with. @throws as make_thread_engine
std::unique_ptr<Engine> make_spinning_engine(int core = any_core, std::size_t capacity = default_capacity);

/// Carries out tasks in the order of their start, one at a time, in a thread: the threaded collective communication of
/// [Nanri15]. Needs MPI_THREAD_MULTIPLE for tasks that call MPI. @throws as make_thread_engine
std::unique_ptr<Engine> make_queue_engine(int core = any_core, std::size_t capacity = default_capacity);

}  // namespace hocket::runtime
