// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hocket::network {

/// How an MPI's own function was seen to take its time: as this algorithm does in the order of ranks, `factor` times as
/// long as predicted. hocket's own schedules took `schedule_factor` times as long.
struct NativeTimes {
    std::string mpi;  ///< "Open MPI 4.1.4"
    std::string collective, algorithm;
    std::optional<std::int64_t> segment_bytes;
    std::int64_t bytes_max;  ///< up to so many, from the next smaller one on
    double factor, schedule_factor;
};

/// Table [calibration] of a network file: what `hocket calibrate` measured beside the network. See
/// docs/reference/calibration-keys.md.
struct Calibration {
    // As in CostParameters (cost/cost_model.hpp). What the file leaves out is not known.
    std::optional<double> send_overhead_s, receive_overhead_s, reduce_bytes_per_s;
    std::optional<std::int64_t> rendezvous_bytes;
    // What the file leaves out is 0.
    std::int64_t burst_bytes = 0;
    double burst_s = 0;
    std::vector<NativeTimes> natives;
    /// The rest of the table, also what nothing reads, as TOML.
    std::string toml;
};

}  // namespace hocket::network
