// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/program/program.hpp"
#include "hocket/schedule/schedule.hpp"
#include "hocket/search/tree.hpp"

// A broadcast that a search found, in the forms that others take.

namespace hocket::search {

/// The broadcast backwards in time: what r got from s, s gets from r. On the tree with the directions of all links
/// exchanged it is a reduction as fast as the broadcast, but for the combining; and the other way round.
std::vector<Transfer> reversed(std::span<const Transfer>);

/// The tree with the directions of all links exchanged.
Tree reversed(const Tree&);

/// For transfer i, the earlier transfers that have left a link where there is no room for both: it waits for their
/// ends. Without those that another one of them, or the source's own message, waits for.
std::vector<std::vector<std::int32_t>> waits_of(const Tree&, std::span<const Transfer>);

/// Whether the schedule keeps the order of transfers that share a link.
enum class Order : std::uint8_t {
    kept,  ///< who must wait for another transfer's end gets a message without chunks from there: a sender learns only
           ///< so that its bytes have arrived
    free,  ///< each starts when its source has the message: for messages so small that sharing costs less than messages
           ///< without chunks
};

/// The broadcast from computer `root` as a Schedule of one segment.
Schedule bcast_of(const Tree&, std::int32_t root, std::span<const Transfer>, Order = Order::kept);

/// A reduction to `root`: `broadcast` was found on reversed(tree), and is run backwards.
Schedule reduce_of(const Tree&, std::int32_t root, std::span<const Transfer> broadcast, Order = Order::kept);

/// The transfers at their instants: a computation of each rank is its clock. By Sharing::reserve each starts at its
/// instant and ends at its end, but that here a duration is not rounded up to whole nanoseconds.
Program timed_program_of(const Tree&, std::span<const Transfer>);

}  // namespace hocket::search
