// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <functional>
#include <string>

namespace hocket::bench {

/// Writes what became of an attempt when the process cannot go on: it crashes, or it waits for ever. What an item does
/// then is a result, like any other.
class Watchdog {
public:
    /// Catches the signals of crashes from now on, for the whole process. MPI_Init has set its own before.
    /// @param limit_s  after which an attempt that shows no life has hung; 0: never
    Watchdog(int file, double limit_s);

    /// Something is attempted: `line(status, message)` is appended to the file if it ends badly.
    void begin(const std::function<std::string(const char* status, const std::string& message)>& line);
    /// The attempt goes on: its time begins anew.
    void alive() const;
    void end();

private:
    double limit_s_;
};

}  // namespace hocket::bench
