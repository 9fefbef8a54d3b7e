// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/schedule/schedule.hpp"
#include "probes/overlap_modes.hpp"

namespace hocket::probes {

/// The command line of hocket-overlap.
struct OverlapOptions {
    Collective collective = Collective::alltoall;
    std::int64_t bytes = 1'000'000;  ///< as in PlanEntry
    int in_flight = 1;
    std::string compute = "free-core";
    double ratio = 1;
    std::string algorithm = "linear";
    int segments = 1;
    int core = -1;  ///< as in hocket_engine_parameters
    std::vector<Mode> modes{all_modes().begin(), all_modes().end()};
    int repetitions = 5;
    double seconds = 30;
};

extern const char* const overlap_usage;

/// @throws InvalidInput
OverlapOptions read_overlap_options(int argc, char** argv);

}  // namespace hocket::probes
