// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/error.hpp"
#include "hocket/simulation/check.hpp"
#include "hocket/simulation/program_engine.hpp"
#include "hocket/simulation/simulate.hpp"
#include "hocket/simulation/streamed_work.hpp"

namespace hocket {

Timeline simulate(OpStream& stream, const Network& network, const SimulationOptions& options) {
    using namespace simulation;
    check_ranks(static_cast<std::size_t>(stream.num_ranks()), network);
    const std::int64_t rendezvous_bytes = options.costs.rendezvous_limit_bytes();
    while (true) {
        StreamedWork work(stream, rendezvous_bytes);
        StaticRoutes routes(network);
        Timeline timeline = ProgramEngine<StreamedWork, StaticRoutes>(work, network, options, routes).run();
        if (!timeline.completed || !work.is_left()) return timeline;
        if (!stream.leave_out_unmatched())
            throw InvalidInput(work.describe_waiting() + " waits for ever: its counterpart never becomes ready",
                               std::to_string(work.num_left()) + " ops wait: look for a cycle of waits" +
                                   (rendezvous_bytes < std::numeric_limits<std::int64_t>::max()
                                        ? "; messages of the rendezvous size or more wait for their receivers"
                                        : ""));
    }
}

}  // namespace hocket
