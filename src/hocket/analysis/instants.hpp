// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/replay/replay.hpp"
#include "hocket/simulation/timeline.hpp"
#include "hocket/trace/trace.hpp"

namespace hocket::analysis {

/// When the calls of a program were entered and left: as recorded, or as simulated.
struct Instants {
    struct Span {
        std::int64_t enter_ns, exit_ns;
    };
    std::vector<std::vector<Span>> calls;  ///< [rank][call of the trace]; on the clock of the trace
    std::int64_t start_ns = 0;             ///< of the program
};

/// From the start of a replay on: what was earlier counts as then.
Instants recorded_instants(const Trace&, const replay::Replayed&);

/// The simulated times of the same calls. A call is entered when what the rank has done before has ended. It is left
/// when what it waits for has ended and the processor is free for the computation that follows: what messages cost the
/// processor is in the calls, and so is waiting for a core where ranks share cores.
/// @throws InvalidInput  if the replay was made without `call_ops`, or the simulation was stopped.
Instants simulated_instants(const replay::Replayed&, const Timeline&);

}  // namespace hocket::analysis
