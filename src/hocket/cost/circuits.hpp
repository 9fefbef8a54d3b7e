// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hocket/network/circuit_rules.hpp"
#include "hocket/schedule/schedule.hpp"

/// Closed forms of collectives on a circuit-switched network [Takizawa].
///
/// A circuit joins two nodes, is full duplex, and takes one port of each. A message of n bytes on it takes alpha + n
/// beta; a node sends one message at a time. Setting circuits up takes s and tearing them down d, each for all nodes at
/// once.
namespace hocket::cost {

/// Time of `batches` >= 0 batches without their messages, in seconds; 0 for none.
double connection_s(std::int64_t batches, const circuits::Times&);

struct CircuitCost {
    double messages_s;     ///< on circuits that are there already: the "ideal" of the paper
    std::int64_t batches;  ///< of circuits, one after another
    double connection_s;
    [[nodiscard]] double total_s() const { return messages_s + connection_s; }
};

/// What a closed form is asked for.
struct CircuitQuestion {
    std::int32_t num_ranks;             ///< one on each node
    std::optional<std::int32_t> ports;  ///< of each node; none: a circuit for each message ("naive")
    /// Of the message of bcast and reduce, of the block of a rank otherwise. The paper divides it: not whole.
    double bytes;
    double latency_s;              ///< alpha
    double bandwidth_bytes_per_s;  ///< 1 / beta
    circuits::Times times;
};

/// Equations 1 to 8 of [Takizawa], and the same for other algorithms and any number of ranks: see circuits.cpp.
/// With ports a node sets up the circuits of as many consecutive steps at once as it has ports.
/// @throws InvalidInput  for an algorithm without a form, naming those that have one, or a value out of range.
CircuitCost circuit_cost(Collective, std::string_view algorithm, const CircuitQuestion&);

/// Names of the algorithms that have a form, in the order of the paper.
std::vector<std::string_view> circuit_algorithms(Collective);

}  // namespace hocket::cost
