// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hocket::probes {

/// A circuit joins two nodes, of which the ranks have the numbers.
struct Circuit {
    int a, b;
    int configuration;
    double setup_s, teardown_s;  ///< when they begin in the schedule: gives the order
};

struct CircuitMessage {
    int circuit;
    int from, to;
    std::vector<int> blocks;
    bool reduces;  ///< its blocks are added to those at the receiver
    double begin_s, end_s;
    int tag;  ///< even; the next number is that of the answer
};

/// An instance and a schedule of it, as `hocket schedule COLLECTIVE --circuits --json` prints them.
struct CircuitRun {
    std::string collective;
    int nodes;  ///< the first ranks; those beyond take no part
    int ports;
    int root;
    double setup_s, teardown_s;
    std::string stop;        ///< "all" or "circuit"
    std::string accounting;  ///< "equations" or "hidden"
    bool is_serial;          ///< the controller does one thing at a time
    bool one_at_a_time;      ///< of the messages that a node sends
    int blocks;
    std::int64_t block_bytes;  ///< rounded up
    std::vector<Circuit> circuits;
    std::vector<CircuitMessage> messages;
};

struct CircuitRuns {
    int rounds;  ///< each has all runs once, in this order
    std::vector<CircuitRun> runs;
};

/// "hocket.circuit-runs/1". @throws InvalidInput  with `source_name` and the place
CircuitRuns parse_circuit_runs(const std::string& text, const std::string& source_name, int num_ranks);

}  // namespace hocket::probes
