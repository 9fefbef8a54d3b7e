// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/circuits/circuit.hpp"
#include "hocket/network/circuit_rules.hpp"

/// Schedules of collectives on a circuit-switched network [Takizawa]: which circuits are up when, and what they carry.
///
/// A circuit joins two nodes and takes one port of each from the start of its set-up to the end of its teardown. It is
/// full duplex. A message of n bytes takes alpha + n beta, carries whole blocks, and leaves a node that holds them.
namespace hocket::circuits {

struct Rules {
    std::int32_t num_nodes;
    std::int32_t ports;  ///< of each node
    double latency_s;    ///< alpha
    double s_per_byte;   ///< beta
    Times times;
    Injection injection = Injection::one;
    Stop stop = Stop::all;
    Controller controller = Controller::parallel;

    [[nodiscard]] double message_s(double bytes) const { return latency_s + bytes * s_per_byte; }
    [[nodiscard]] double exchange_s() const { return times.exchange_s(controller); }
};

struct Message {
    std::int32_t circuit;
    std::int32_t from, to;
    std::vector<std::int32_t> blocks;
    bool reduces;  ///< the receiver combines it with what it has; otherwise it keeps it as it is
    double begin_s, end_s;
};

/// Times start at 0. A message is in the list after those whose content it needs.
struct CircuitSchedule {
    double block_bytes = 0;
    std::vector<Circuit> circuits;
    std::vector<Message> messages;
    double makespan_s = 0;  ///< end of the last teardown
};

/// A schedule of configurations one after another, without times.
struct Draft {
    struct Send {
        std::int32_t configuration;  ///< not below that of the message before
        std::int32_t step;           ///< the same within a configuration
        std::int32_t from, to;
        std::vector<std::int32_t> blocks;
        bool reduces = false;
    };
    double block_bytes = 0;
    bool receives_one = false;  ///< a node receives its messages one after another: backwards, it sends so
    /// Each waits for those of lower steps, and of earlier configurations, that bring one of its blocks to its sender.
    std::vector<Send> messages;
};

/// Starts all as early as the rules and the order of the messages allow. Circuits that carry nothing do not exist. With
/// Stop::circuit one that the next configuration has too stays up, and others until their ports are wanted.
CircuitSchedule timed(const Draft&, const Rules&);

/// Backwards in time: a broadcast becomes a reduction, a set-up a teardown. What was made with s and d exchanged is
/// right for `injection` one if no node of it received two messages at a time.
CircuitSchedule reversed(const CircuitSchedule&);

}  // namespace hocket::circuits
