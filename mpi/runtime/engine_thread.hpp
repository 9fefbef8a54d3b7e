// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <functional>
#include <thread>

namespace hocket::runtime {

/// The thread of an engine: takes no signals, which are the program's, wakes from short naps in time, and runs on a
/// chosen core.
class EngineThread {
public:
    /// `core` as in Core. @throws std::system_error  no thread can be started
    /// @throws InvalidInput  the process cannot use that core
    EngineThread(std::function<void()> work, int core);
    void join() { thread_.join(); }
    /// CPU time used so far, seconds.
    [[nodiscard]] double cpu_s() const;

private:
    std::thread thread_;
};

}  // namespace hocket::runtime
