// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hocket::network {

/// Table [calibration] of a network file: what `hocket calibrate` measured beside the network. See
/// docs/reference/calibration-keys.md.
struct Calibration {
    // As in CostParameters (cost/cost_model.hpp). What the file leaves out is not known.
    std::optional<double> send_overhead_s, receive_overhead_s, reduce_bytes_per_s;
    std::optional<std::int64_t> rendezvous_bytes;
    // What the file leaves out is 0.
    std::int64_t burst_bytes = 0;
    double burst_s = 0;
    /// All of the table, also what nothing reads, as TOML.
    std::string toml;
};

}  // namespace hocket::network
