// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/network/fabric.hpp"
#include "hocket/patterns/traffic.hpp"
#include "hocket/simulation/simulate.hpp"

namespace hocket {

struct TrafficOptions {
    Sharing sharing = Sharing::maxmin;
    std::int32_t in_flight =
        1;                      ///< messages that a source has on the way at a time; when one has left, the next starts
    bool record_links = false;  ///< fill TrafficResult::link_bytes
};

/// Times in seconds from the start.
struct TrafficResult {
    double makespan_s = 0;           ///< when the last byte of all has arrived
    double mean_finish_s = 0;        ///< over the sources that send anything, of when their last byte has arrived
    std::vector<double> finish_s;    ///< [source] when its last byte has arrived
    std::vector<double> link_bytes;  ///< [link]
    std::int64_t num_messages = 0;   ///< the events of this simulation
    std::int64_t num_rates = 0;      ///< how often a flow got a rate, or another one
};

/// Simulates a traffic without making a Program of it, in memory that is proportional to sources and capacities. The
/// result is that of `simulate(program_of(traffic), ...)` but for rounding, without overheads and with `ordered_pairs` off: a
/// message is a flow on its route from the time it starts; its last byte arrives the latencies of the route after it has
/// left. Times are kept to 48 bits, so that what ends together is one event.
///
/// Long queues of messages of random sizes that meet again and again amplify what is rounded away: in a linear all-to-all
/// of 256 ranks, one byte more in one message of 1 GB moves the end of a source by 1e-5 after 40 messages each, and by
/// some per cent after 80. What such traffic takes is a sample, whatever simulates it.
/// @throws InvalidInput  if the traffic has more sources than the network has ranks, or an option is out of range.
TrafficResult simulate_traffic(const Traffic&, const network::Fabric&, const TrafficOptions& = {});

}  // namespace hocket
