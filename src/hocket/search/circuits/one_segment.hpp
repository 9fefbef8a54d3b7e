// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/circuits/circuit_schedule.hpp"

/// The fastest broadcast of one message that is not divided, from node 0, with a controller that sets up any number of
/// circuits at a time. All of this is exact for any number of nodes; one_segment.cpp has the proofs.
namespace hocket::search {

/// Nodes that one node with the message reaches, itself included, in `rounds` rounds of one configuration. It has
/// `ports` ports for this, and those it reaches one less. At most `most`.
std::int64_t reach(std::int64_t rounds, std::int32_t ports, circuits::Injection, std::int64_t most);

/// Fewest rounds of messages in all with each number of configurations: element c - 1 for c of them, and as many
/// elements
/// as more configurations save rounds. Each element lists the rounds of the configurations.
/// Empty if p is 1.
std::vector<std::vector<std::int64_t>> fewest_rounds(std::int32_t p, std::int32_t ports, circuits::Injection);

/// The broadcast of `bytes` by configurations of so many rounds.
circuits::Draft configurations_draft(const circuits::Rules&, double bytes, const std::vector<std::int64_t>& rounds);

/// Configurations one after another, torn down together.
circuits::CircuitSchedule broadcast_by_configurations(const circuits::Rules&, double bytes);

/// Each circuit torn down by itself as soon as it has carried its message.
circuits::CircuitSchedule broadcast_by_circuits(const circuits::Rules&, double bytes);

/// The fastest by the rules, which have a parallel controller.
circuits::CircuitSchedule broadcast_one_segment(const circuits::Rules&, double bytes);

}  // namespace hocket::search
