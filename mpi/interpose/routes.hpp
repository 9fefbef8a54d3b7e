// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "interpose/call.hpp"
#include "interpose/communicators.hpp"

namespace hocket::interpose {

/// What all ranks see alike of a call.
struct Signature {
    /// Of the message, or of the block of one rank; where blocks differ, their mean, rounded up. Negative if there is
    /// no such size, which the MPI's own function will complain about, and where the blocks are too uneven.
    std::int64_t bytes;
    /// By how many quarters of the mean the largest block is larger than it.
    std::int32_t unevenness = 0;
    bool is_too_uneven = false;
};
Signature signature_of(const Call& call, const Communicator& communicator);

/// The one of `routes` that serves a call of so many bytes, or null.
Route* find_route(std::vector<Route>& routes, const Call& call, std::int64_t bytes);

/// Whether the route's schedule may combine with the operator and datatype of a call whose arguments are good.
bool may_combine(const Route& route, const Call& call);
/// The same for a call of any collective.
inline bool keeps_order(const Route& route, const Call& call) {
    return !combines(call.collective) || may_combine(route, call);
}

}  // namespace hocket::interpose
