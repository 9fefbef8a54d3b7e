// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>

namespace hocket::probes {

/// CPU time that messages between two ranks take from the cores of both ends, and the rate of MPI_Reduce_local.
struct CoreCosts {
    double send_s = 0;              ///< of each message, on the source's core
    double receive_s = 0;           ///< and on the target's
    double send_s_per_byte = 0;     ///< of each byte beside that
    double receive_s_per_byte = 0;  ///< and on the target's
    double reduce_bytes_per_s = 0;  ///< of the source: doubles summed into others, counted once

    std::array<double, 5> values() const {
        return {send_s, receive_s, send_s_per_byte, receive_s_per_byte, reduce_bytes_per_s};
    }
};

/// All ranks call it; those that are neither `source` nor `target` wait aside. The result is on rank 0.
CoreCosts measure_core_costs(int source, int target, int rank);

}  // namespace hocket::probes
