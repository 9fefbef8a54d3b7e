// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/decision/plan_times.hpp"

#include <algorithm>
#include <string>

#include "hocket/decision/decider.hpp"
#include "hocket/network/placement.hpp"

namespace hocket::decision {

std::vector<network::NativeTimes> times_of(const Plan& plan, const Network& cluster, const CostModel& costs,
                                           std::string_view mpi) {
    std::vector<NodeId> hosts;
    for (const std::string& name : plan.hosts()) {
        const auto host = network::find_host(cluster, name);
        if (!host) return {};
        hosts.push_back(*host);
    }
    if (hosts.empty()) return {};
    const Network there = network::placed(cluster, hosts);
    Decider decider(there, costs);
    std::vector<network::NativeTimes> found;
    for (const PlanEntry& entry : plan.entries()) {
        if (!entry.evidence || entry.evidence->mpi != mpi || !entry.native_s || !entry.tuned_s) continue;
        const std::vector<Rank> members(entry.members.begin(), entry.members.end());
        const std::int64_t bytes = entry.bytes_max;
        const double native_s = decider.native_s(entry.collective, members, bytes);
        // Schedules without a name say nothing of the algorithms that are decided on.
        const double schedule_s = entry.schedule.algorithm() != nullptr
                                      ? decider.predicted_s(entry.schedule, members, bytes)
                                      : *entry.tuned_s;
        if (!(native_s > 0) || !(schedule_s > 0) || !(*entry.native_s > 0) || !(*entry.tuned_s > 0)) continue;
        found.push_back({std::string(mpi),
                         std::string(name_of(entry.collective)),
                         {},
                         std::nullopt,
                         std::max<std::int64_t>(1, bytes),
                         *entry.native_s / native_s,
                         *entry.tuned_s / schedule_s});
    }
    return found;
}

}  // namespace hocket::decision
