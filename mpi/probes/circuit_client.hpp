// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "hocket/base/error.hpp"
#include "probes/circuit_runs.hpp"

namespace hocket::probes {

/// What the controller sends to all nodes when a run cannot go on. It reports the error itself.
class SwitchError : public Error {
public:
    using Error::Error;
};

/// One node's connection with the controller of a circuit switch (python/hocket/testbed/circuit_controller.py).
class CircuitClient {
public:
    CircuitClient(const std::string& path, int node);
    ~CircuitClient();
    CircuitClient(const CircuitClient&) = delete;
    CircuitClient& operator=(const CircuitClient&) = delete;

    /// The answer is "go" and the time, when all nodes have called it and the switch has closed.
    void begin(const CircuitRun& run);
    void want(const std::vector<int>& circuits) { send("want", circuits); }
    void release(const std::vector<int>& circuits) { send("release", circuits); }
    void end() { send("end", {}); }

    /// The next packet, as words; none if there is none yet. @throws SwitchError
    std::optional<std::istringstream> poll();
    /// Waits for one, a millisecond at most.
    void wait() const;

private:
    void send(const std::string& word, const std::vector<int>& circuits) const;
    void send(const std::string& packet) const;

    int node_;
    int socket_;
    std::string buffer_;
};

}  // namespace hocket::probes
