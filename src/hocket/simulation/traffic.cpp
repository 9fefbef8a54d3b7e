// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/traffic.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/threads.hpp"
#include "hocket/simulation/parts.hpp"
#include "hocket/simulation/paths.hpp"
#include "hocket/simulation/progress.hpp"
#include "hocket/simulation/reference/traffic.hpp"
#include "hocket/simulation/sharing/incremental_equal.hpp"
#include "hocket/simulation/sharing/incremental_maxmin.hpp"
#include "hocket/simulation/sharing/incremental_reserve.hpp"
#include "hocket/simulation/sharing/incremental_unshared.hpp"
#include "hocket/simulation/sharing/incremental_windows.hpp"
#include "hocket/simulation/traffic_engine.hpp"

namespace hocket {
namespace {

using namespace simulation;

template <class Model>
PartResult simulate_part(const TrafficRun& run, const Part& part, ThreadProgress& progress) {
    return TrafficEngine<Model>(run, part, progress).run();
}

PartResult simulate_part(const TrafficRun& run, const Part& part, ThreadProgress& progress) {
    switch (run.options.sharing) {
        case Sharing::none:
            return simulate_part<IncrementalUnshared>(run, part, progress);
        case Sharing::equal:
            return simulate_part<IncrementalEqual>(run, part, progress);
        case Sharing::maxmin:
            return simulate_part<IncrementalMaxMin>(run, part, progress);
        case Sharing::reserve:
            return Paths(run.fabric).without_latency() ? simulate_part<IncrementalReserve>(run, part, progress)
                                                       : simulate_part<IncrementalWindows>(run, part, progress);
    }
    throw InvalidInput("sharing is not one of none, equal, maxmin, reserve");
}

/// Parts are taken by the threads in turn. What they combine, numbers of messages and the latest of times, is exact in
/// any order, and all else is of one part: the result does not depend on the number of threads.
TrafficResult simulate_in_parts(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options) {
    const double begin_s = real_time_s();
    TrafficResult result;
    const bool records = options.link_bins.num_bins != 0 || !options.record_messages.sources.empty();
    if (options.record_links || options.link_bins.num_bins != 0)
        result.link_bytes.assign(static_cast<std::size_t>(fabric.num_links()), 0);
    std::optional<TrafficRecorder> recorder;
    if (records)
        recorder.emplace(traffic.num_sources(), fabric.num_links(), options.link_bins, options.record_messages);
    const Paths paths(fabric);
    const Division division = divide(traffic, fabric, paths, options.part_messages);
    const std::vector<Part>& parts = division.parts;
    // Not finished, if a part is not begun.
    result.finish_s.assign(static_cast<std::size_t>(traffic.num_sources()), std::numeric_limits<double>::quiet_NaN());
    const TrafficRun run{traffic,  fabric,          options,           paths,
                         division, result.finish_s, result.link_bytes, recorder ? &*recorder : nullptr};
    // A recorder is for one thread: those of several would take as much memory each.
    const std::size_t most_threads = records ? 1 : static_cast<std::size_t>(options.num_threads);
    SharedProgress progress(options.on_progress, total_messages(traffic));
    double setup_s = 0;
    std::size_t num_completed = 0;
    std::mutex result_mutex;
    std::atomic<std::size_t> next_part = 0;
    const auto work = [&](std::int32_t thread) {
        ThreadProgress own(progress, thread == 0);
        try {
            for (std::size_t p = next_part++; p < parts.size() && !progress.stops(); p = next_part++) {
                const PartResult part = simulate_part(run, parts[p], own);
                const std::lock_guard lock(result_mutex);
                result.simulated_s = std::max(result.simulated_s, part.simulated_s);
                result.num_messages += part.num_messages;
                result.num_rates += part.num_rates;
                setup_s += part.setup_s;
                num_completed += part.completed ? 1 : 0;
            }
        } catch (...) {
            progress.stop();
            throw;
        }
    };
    const double divided_s = real_time_s();
    result.num_threads = base::run_on_threads(static_cast<std::int32_t>(std::min(parts.size(), most_threads)), work,
                                              [&] { progress.report(); });
    result.setup_s = divided_s - begin_s + setup_s / result.num_threads;
    result.completed = num_completed == parts.size();
    if (recorder) {
        result.link_bins = recorder->take_bins();
        result.messages = recorder->take_messages();
        result.num_left_out = recorder->num_left_out();
    }
    return result;
}

}  // namespace

TrafficResult simulate_traffic(const Traffic& traffic, const network::Fabric& fabric, const TrafficOptions& options) {
    constexpr std::int64_t most_flows = std::int64_t{1} << 29;
    if (traffic.num_sources() > fabric.num_ranks())
        throw InvalidInput("the traffic has " + std::to_string(traffic.num_sources()) + " ranks, the network has " +
                               std::to_string(fabric.num_ranks()),
                           "use a network with at least as many ranks");
    if (options.in_flight < 1 || std::int64_t{options.in_flight} * traffic.num_sources() > most_flows)
        throw InvalidInput(std::to_string(options.in_flight) + " messages in flight from each of " +
                               std::to_string(traffic.num_sources()) + " sources",
                           "accepted: at least 1, and together at most 2^29");
    if (options.num_threads < 1 || options.num_threads > 1024)
        throw InvalidInput(std::to_string(options.num_threads) + " threads", "accepted: 1 to 1024");
    if (options.reference && (options.link_bins.num_bins != 0 || !options.record_messages.sources.empty()))
        throw InvalidInput("the reference records neither links over time nor messages",
                           "simulate without it: the result is the same");
    const double begin_s = real_time_s();
    TrafficResult result = options.reference ? simulate_reference_traffic(traffic, fabric, options)
                                             : simulate_in_parts(traffic, fabric, options);
    std::int32_t senders = 0;
    // What rounding loses is added up too: a plain sum of millions of times can make a mean above the makespan.
    double sum_s = 0, lost_s = 0;
    for (std::int32_t s = 0; s < traffic.num_sources(); ++s) {
        const double finish_s = result.finish_s[static_cast<std::size_t>(s)];
        if (std::isnan(finish_s) || traffic.num_messages(Rank{s}) == 0) continue;
        result.makespan_s = std::max(result.makespan_s, finish_s);
        const double more_s = sum_s + finish_s;
        lost_s += sum_s >= finish_s ? (sum_s - more_s) + finish_s : (finish_s - more_s) + sum_s;
        sum_s = more_s;
        ++senders;
    }
    if (senders > 0) result.mean_finish_s = std::min(result.makespan_s, (sum_s + lost_s) / senders);
    result.solve_s = real_time_s() - begin_s - result.setup_s;
    return result;
}

}  // namespace hocket
