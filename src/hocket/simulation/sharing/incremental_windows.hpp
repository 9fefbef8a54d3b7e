// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "hocket/simulation/events/flow_table.hpp"
#include "hocket/simulation/sharing/incremental_model.hpp"
#include "hocket/simulation/sharing/reserved_bandwidth.hpp"

namespace hocket::simulation {

/// A flow takes the least bandwidth of its route for itself [Hourai], on each capacity while its bytes pass there: from
/// its delay there after the start on, for as long as its bytes take. It waits until that is free on its whole route.
///
/// The paper leaves open who starts when several wait. Here they are asked in the order in which they came, and each
/// that finds room starts: one that does not fit holds nobody else back.
///
/// A flow that does not fit now cannot start before a time that follows from the windows reserved by then: others only
/// make it later. It is asked again at that time.
class IncrementalWindows : public IncrementalDefaults {
public:
    IncrementalWindows(Bandwidths bandwidths, std::int32_t num_flows)
        : units_(std::move(bandwidths)),
          flows_(num_flows),
          plans_(static_cast<std::size_t>(num_flows)),
          reserved_(static_cast<std::size_t>(units_.num_capacities())) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    static constexpr bool keeps_rate = false;
    static constexpr bool needs_delays = true;

    /// The rate stays 0 until an update() gives the flow room.
    void add(std::int32_t flow, const Passage& passage) {
        flows_.make_room(flow, passage.capacities.size());
        plans_.resize(static_cast<std::size_t>(flows_.size()));
        flows_.set_path(flows_[flow], passage.capacities);
        flows_[flow].rate_bytes_per_s = 0;
        Plan& plan = plans_[static_cast<std::size_t>(flow)];
        plan.came = num_came_++;
        plan.duration_s = passage.bytes / units_.least_bandwidth(passage.capacities);
        plan.delays_s.assign(passage.delays_s.begin(), passage.delays_s.end());
        asked_.emplace_back(plan.came, flow);
    }
    /// What the flow has reserved passes by itself.
    void remove(std::int32_t flow) {
        flows_[flow].num_capacities = 0;
        flows_[flow].rate_bytes_per_s = 0;
        plans_[static_cast<std::size_t>(flow)].came = -1;
    }
    void replace(std::int32_t flow, const Passage& passage) {
        remove(flow);
        add(flow, passage);
    }

    /// Starts the flows that fit; calls `on_change(flow, record, 0)` for each.
    template <class OnChange>
    void update(double now_s, OnChange&& on_change) {
        while (!waiting_.empty() && !(waiting_.begin()->first > end_of_instant(now_s))) {
            asked_.insert(asked_.end(), waiting_.begin()->second.begin(), waiting_.begin()->second.end());
            waiting_.erase(waiting_.begin());
        }
        std::sort(asked_.begin(), asked_.end());
        for (const Waiting& one : asked_) {
            const std::int32_t flow = one.second;
            if (plans_[static_cast<std::size_t>(flow)].came != one.first) continue;  // it has been removed
            if (const double start_s = earliest_start_s(flow, now_s); start_s > now_s) {
                waiting_[start_s].push_back(one);
                continue;
            }
            reserve(flow, now_s);
            FlowRecord& record = flows_[flow];
            record.rate_bytes_per_s = units_.least_bandwidth(record.path());
            on_change(flow, record, 0.0);
        }
        asked_.clear();
    }
    /// When a flow that waits is to be asked again.
    [[nodiscard]] double next_event_s() const {
        return waiting_.empty() ? std::numeric_limits<double>::infinity() : waiting_.begin()->first;
    }

private:
    using Waiting = std::pair<std::int64_t, std::int32_t>;  // (its number among all that came, flow)
    struct Plan {
        std::int64_t came = -1;  ///< -1 = not in the network
        double duration_s = 0;
        std::vector<double> delays_s;  ///< [capacity of its path]
    };

    /// The flow fits now, if that is now; it does not before, if that is later.
    [[nodiscard]] double earliest_start_s(std::int32_t flow, double now_s) const {
        const FlowRecord& record = flows_[flow];
        const Plan& plan = plans_[static_cast<std::size_t>(flow)];
        const std::int64_t units = units_.units_of(units_.least_bandwidth(record.path()));
        double start_s = now_s;
        for (std::size_t i = 0; i < plan.delays_s.size(); ++i) {
            const std::int32_t c = record.path()[i];
            const double begin_s = start_s + plan.delays_s[i];
            const double found_s =
                reserved_[static_cast<std::size_t>(c)].earliest(begin_s, plan.duration_s, units_.room(c) - units);
            if (found_s > begin_s) start_s = std::max(start_s, found_s - plan.delays_s[i]);
        }
        return start_s;
    }
    void reserve(std::int32_t flow, double now_s) {
        const FlowRecord& record = flows_[flow];
        const Plan& plan = plans_[static_cast<std::size_t>(flow)];
        const std::int64_t units = units_.units_of(units_.least_bandwidth(record.path()));
        for (std::size_t i = 0; i < plan.delays_s.size(); ++i) {
            const double begin_s = now_s + plan.delays_s[i];
            reserved_[static_cast<std::size_t>(record.path()[i])].reserve(begin_s, begin_s + plan.duration_s, units,
                                                                          now_s);
        }
    }

    BandwidthUnits units_;
    FlowTable flows_;
    std::vector<Plan> plans_;  // [flow]
    std::int64_t num_came_ = 0;
    std::vector<ReservedBandwidth> reserved_;         // [capacity]
    std::vector<Waiting> asked_;                      // at the next update
    std::map<double, std::vector<Waiting>> waiting_;  // [when they are asked again]
};

}  // namespace hocket::simulation
