// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/network/fabric.hpp"
#include "hocket/simulation/options.hpp"
#include "hocket/simulation/record/link_bins.hpp"
#include "hocket/simulation/record/traffic_recorder.hpp"
#include "hocket/traffic/traffic.hpp"

namespace hocket {

using TrafficProgress = SimulationProgress;

struct TrafficOptions {
    /// How flows share links.
    Sharing sharing = Sharing::maxmin;
    /// Messages that a source has on the way at a time; when one has left, the next starts.
    std::int32_t in_flight = 1;
    /// Fill TrafficResult::link_bytes.
    bool record_links = false;
    /// 1 .. 1024, of which as many are used as there are parts of the traffic that share no links; one, if links over
    /// time or messages are recorded. The result is the same, bit for bit, whatever their number.
    std::int32_t num_threads = 1;
    /// Parts have at least so many messages; smaller ones are joined. Each part has its own instants
    /// (`simulate_traffic`).
    std::int64_t part_messages = std::int64_t{1} << 14U;
    /// Rates by the plain rules, computed anew at each step: slow, and to compare with.
    bool reference = false;
    /// None = no progress is reported.
    OnProgress on_progress = {};
    /// Fill TrafficResult::link_bins, and link_bytes.
    LinkBinOptions link_bins = {};
    /// Fill TrafficResult::messages.
    MessageRecordOptions record_messages = {};
};

/// Simulated times in seconds from the start. If the simulation was stopped by on_progress, all is as far as it had
/// come.
struct TrafficResult {
    bool completed = true;           ///< false = stopped
    double simulated_s = 0;          ///< the time reached: when the last event was
    double makespan_s = 0;           ///< when the last byte of all has arrived
    double mean_finish_s = 0;        ///< over the sources that send anything, of when their last byte has arrived
    std::vector<double> finish_s;    ///< [source] when its last byte has arrived; NaN = some of its bytes had not left
    std::vector<double> link_bytes;  ///< [link] of the messages that have started
    LinkBins link_bins;
    std::vector<RecordedMessage> messages;  ///< by start
    std::int64_t num_left_out = 0;          ///< messages of the recorded sources beyond the number asked for
    std::int64_t num_messages = 0;          ///< that have left: the events of this simulation
    std::int64_t num_rates = 0;             ///< how often a flow got a rate, or another one
    std::int32_t num_threads = 1;           ///< that ran
    double setup_s = 0;                     ///< real time taken by tables and by the start of the first messages
    double solve_s = 0;                     ///< and by all that followed
};

/// Simulates a traffic without making a Program of it, in memory that is proportional to sources and capacities. The
/// result is that of `simulate(program_of(traffic), ...)` but for rounding, without overheads and with `ordered_pairs`
/// off: a message is a flow on its route from the time it starts; its last byte arrives the latencies of the route
/// after it has left. Times are kept to 48 bits, so that what ends together is one event.
///
/// Parts of the traffic that share no links are simulated one after another, or by several threads. If it is stopped,
/// some have come to their end and others have not begun.
///
/// Long queues of messages of random sizes that meet again and again amplify what is rounded away: in a linear
/// all-to-all of 256 ranks, one byte more in one message of 1 GB moves the end of a source by 1e-5 after 40 messages
/// each, and by some per cent after 80. What such traffic takes is a sample, whatever simulates it.
/// @throws InvalidInput  if the traffic has more sources than the network has ranks, or an option is out of range.
TrafficResult simulate_traffic(const Traffic&, const network::Fabric&, const TrafficOptions& = {});

}  // namespace hocket
