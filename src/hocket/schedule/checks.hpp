// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hocket/schedule/schedule.hpp"

/// The steps of validate(). Each appends what it finds to `violations` and relies on the steps before it having found
/// nothing.
namespace hocket::schedule {

using Violations = std::vector<std::string>;

/// [rank][op] -> the op of its peer at the other end of the message.
using Matching = std::vector<std::vector<std::int32_t>>;

/// Pairs the k-th send of a to b with the k-th receive of b from a.
Matching match(const Schedule&, Violations&);

/// Both ends of a message list the same chunks in the same order.
void check_chunks_of_messages(const Schedule&, const Matching&, Violations&);

/// No two ops of a rank, one of them writing, use the same chunk without a chain of dependencies between them.
void check_races(const Schedule&, Violations&);

/// Runs the ops in an order in which a send completes only when its receiver takes the message, and calls `transfer`
/// with the sending rank, its op, the receiving rank and its op when a message is taken, and `combine` when a receive
/// that reduces combines. Reports a deadlock.
struct Steps {
    std::function<void(Rank, std::int32_t, Rank, std::int32_t)> transfer;
    std::function<void(Rank, std::int32_t)> combine;
};
void run(const Schedule&, const Matching&, const Steps&, Violations&);

/// Executes a collective other than barrier. Returns whether all reductions are in rank order.
bool execute(const Schedule&, const Matching&, Violations&);

/// Executes a barrier: who knows of whose entry. Returns true.
bool execute_barrier(const Schedule&, const Matching&, Violations&);

}  // namespace hocket::schedule
