// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/cost/circuits.hpp"

/// Schedules of collectives on a circuit-switched network [Takizawa]: which circuits are up when, and what they carry.
///
/// A circuit joins two nodes and takes one port of each from the start of its set-up to the end of its teardown. It is
/// full duplex. A message of n bytes takes alpha + n beta, carries whole blocks, and leaves a node that holds them.
namespace hocket::circuits {

/// Whether a node sends its messages one after another, or on all its circuits at once. What it combines it receives in
/// the same way, so that a reduction is a broadcast backwards.
enum class Injection { one, all };
/// Whether the circuits of a configuration are torn down together before the next ones are set up, or each by itself.
enum class Stop { all, circuit };
/// How many set-ups and teardowns the switch performs at a time: any number, or one.
enum class Controller { parallel, serial };

struct Rules {
    std::int32_t num_nodes;
    std::int32_t ports;  ///< of each node
    double latency_s;    ///< alpha
    double s_per_byte;   ///< beta
    cost::CircuitTimes times;
    Injection injection = Injection::one;
    Stop stop = Stop::all;
    Controller controller = Controller::parallel;

    [[nodiscard]] double message_s(double bytes) const { return latency_s + bytes * s_per_byte; }
    /// From the start of the teardown of a circuit to the opening of the next one on its port, at the least. With
    /// `hidden` the teardown runs beside the set-up, which a serial controller cannot do.
    [[nodiscard]] double exchange_s() const;
};

struct Circuit {
    std::int32_t a, b;           ///< a < b
    std::int32_t configuration;  ///< circuits with the same number are torn down together if the rules want it
    double setup_s, open_s;      ///< when the set-up begins and ends
    double teardown_s, down_s;   ///< when the teardown begins and ends
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
    bool receives_one = false;  ///< a node receives its messages one after another, as if it combined them
    /// Each waits for those of lower steps, and of earlier configurations, that bring one of its blocks to its sender.
    std::vector<Send> messages;
};

/// Starts all as early as the rules and the order of the messages allow. Circuits that carry nothing do not exist.
CircuitSchedule timed(const Draft&, const Rules&);

/// Backwards in time: a broadcast becomes a reduction, a set-up a teardown. What was made with s and d exchanged and
/// `injection` one is right for the rules if no node of it received two messages at a time.
CircuitSchedule reversed(const CircuitSchedule&);

}  // namespace hocket::circuits
