// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::cost {

/// What a link may pass at once after a pause: at least so many bytes, and what it carries in so many seconds. As of
/// CostParameters.
struct Bursts {
    double bytes = 0, seconds = 0;
};

/// A part of the network with some of the members, but not all, and what joins it with the rest.
struct Cut {
    std::int64_t members = 0;     ///< inside
    bool has_root = false;        ///< inside
    double out_bytes_per_s = 0;   ///< of all links out of the part
    double in_bytes_per_s = 0;    ///< and into it
    double both_bytes_per_s = 0;  ///< and of both, a half-duplex cable counted once
    double out_burst_bytes = 0;   ///< that the links out may pass at once
    double in_burst_bytes = 0;
    double both_burst_bytes = 0;
    double out_latency_s = 0;  ///< a message from a member inside to one outside takes at least this
    double in_latency_s = 0;   ///< and from outside to inside
};

struct Cuts {
    std::vector<Cut> cuts;
    /// Sets of disjoint parts that hold all members together, as indices into cuts.
    std::vector<std::vector<std::int32_t>> divisions;
};

/// Each host with its processes, and the division into these. On a tree also the two parts that each cable separates,
/// and at each node the division into itself and what hangs on it.
Cuts cuts_of(const Network&, std::span<const Rank> members, Rank root_member, const Bursts& = {});

/// Least sum of latencies over paths that begin at any of the `sources` (forward), or end there (backward), by node;
/// infinity where there is no path.
std::vector<double> least_latencies_s(const Network&, std::span<const NodeId> sources, bool forward);

}  // namespace hocket::cost
