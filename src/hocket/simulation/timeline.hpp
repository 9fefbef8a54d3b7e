// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/simulation/record/link_bins.hpp"

namespace hocket {

/// The result of simulating a Program on a Network. Times in seconds from the start. If the simulation was stopped, NaN
/// is the start and the end of an op that had not ended, and the finish of a rank that had not finished.
struct Timeline {
    struct Interval {
        double start_s, end_s;
    };
    struct LinkUse {
        double start_s, end_s;
        double rate_bytes_per_s;
    };
    struct LinkBurst {
        double time_s;
        double bytes;
    };
    bool completed = true;                            ///< false = stopped by on_progress
    double makespan_s = 0;                            ///< if stopped, the time reached
    std::vector<std::vector<Interval>> ranks;         ///< [rank][op of RankProgram]
    std::vector<double> finish_s;                     ///< [rank] end of its last op
    std::vector<double> link_bytes;                   ///< [link]
    std::vector<std::vector<LinkUse>> link_use;       ///< [link] piecewise constant load, if asked for
    std::vector<std::vector<LinkBurst>> link_bursts;  ///< [link] beside it, bytes without a transfer time, by time
    LinkBins link_bins;                               ///< both in bins of time, if asked for
    std::int64_t num_events = 0;  ///< completed messages, computations and reductions; also those of handshakes
};

}  // namespace hocket
