// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hocket/analysis/instants.hpp"

namespace hocket::analysis {

/// Why a call waits, by the names and definitions of Scalasca [Geimer10].
enum class WaitState : std::uint8_t {
    late_sender,      ///< a receive, or the wait for it, was entered before the send
    late_receiver,    ///< a send, or the wait for it, was blocked until the receive was posted
    wait_at_barrier,  ///< until the last rank has entered
    wait_at_nxn,      ///< until the last rank has entered a collective in which all send to all
    late_broadcast,   ///< until the root has entered a collective in which it sends to all
    early_reduce,     ///< the root, until the first other rank has entered a collective in which all send to it
};
constexpr int num_wait_states = 6;

/// "late sender", ..., as Scalasca prints it but for capitals.
std::string_view name_of(WaitState);

struct Wait {
    std::int32_t rank, call;  ///< that waits, from when it is entered
    WaitState state;
    std::int64_t wait_ns;                 ///< at most as long as the call takes
    std::int32_t cause_rank, cause_call;  ///< what it waits for: that this call is entered
};

/// The wait states of the main threads' calls, at most one for each: the longest. By rank, then by call.
///
/// Of point-to-point messages, also of requests, and of blocking collectives on intra-communicators. Collectives that
/// do not block, scans, those with neighbours, and one-sided calls have no wait states here.
std::vector<Wait> wait_states(const Trace&, const replay::Replayed&, const Instants&);

}  // namespace hocket::analysis
