// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/simulation/events/flow_table.hpp"
#include "hocket/simulation/sharing/incremental_model.hpp"
#include "hocket/simulation/sharing/reserved_bandwidth.hpp"

namespace hocket::simulation {

/// IncrementalWindows for networks without delays: there the windows of a flow are one, from its start to its end, and
/// what is reserved now is all that there is to know.
///
/// A flow that waits is remembered at one capacity without room for it; nothing else can let it start.
class IncrementalReserve : public IncrementalDefaults {
public:
    IncrementalReserve(Bandwidths bandwidths, std::int32_t num_flows)
        : units_(std::move(bandwidths)),
          flows_(num_flows),
          came_(static_cast<std::size_t>(num_flows)),
          reserved_(static_cast<std::size_t>(units_.num_capacities())) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    /// The rate stays 0 until an update() gives the flow room.
    void add(std::int32_t flow, const Passage& passage) {
        flows_.make_room(flow, passage.capacities.size());
        came_.resize(static_cast<std::size_t>(flows_.size()));
        flows_.set_path(flows_[flow], passage.capacities);
        flows_[flow].rate_bytes_per_s = 0;
        came_[static_cast<std::size_t>(flow)] = num_came_;
        waiting_.push_back({num_came_++, flow});
    }
    void remove(std::int32_t flow) {
        FlowRecord& record = flows_[flow];
        if (record.rate_bytes_per_s > 0) {
            const std::int64_t units = units_.units_of(record.rate_bytes_per_s);
            for (const std::int32_t c : record.path()) {
                reserved_[c] -= units;
                freed_.push_back(c);
            }
        }
        record.num_capacities = 0;
        record.rate_bytes_per_s = 0;
        came_[static_cast<std::size_t>(flow)] = -1;
    }
    /// Those that have waited longer come first.
    static constexpr bool keeps_rate = false;
    void replace(std::int32_t flow, const Passage& passage) {
        remove(flow);
        add(flow, passage);
    }

    /// Starts the flows that fit; calls `on_change(flow, record, 0)` for each.
    template <class OnChange>
    void update(double, OnChange&& on_change) {
        for (const std::int32_t c : freed_) {
            const auto found = waiting_at_.find(c);
            if (found == waiting_at_.end()) continue;
            waiting_.insert(waiting_.end(), found->second.begin(), found->second.end());
            waiting_at_.erase(found);
        }
        freed_.clear();
        std::sort(waiting_.begin(), waiting_.end());
        for (const auto& [came, flow] : waiting_) {
            if (came_[static_cast<std::size_t>(flow)] != came) continue;  // it has been removed
            FlowRecord& record = flows_[flow];
            const std::span<const std::int32_t> path = record.path();
            const double rate = units_.least_bandwidth(path);
            const std::int64_t units = units_.units_of(rate);
            const auto full = std::find_if(path.begin(), path.end(),
                                           [&](std::int32_t c) { return reserved_[c] + units > units_.room(c); });
            if (full != path.end()) {
                waiting_at_[*full].push_back({came, flow});
                continue;
            }
            for (const std::int32_t c : path) reserved_[c] += units;
            record.rate_bytes_per_s = rate;
            on_change(flow, record, 0.0);
        }
        waiting_.clear();
    }

private:
    using Waiting = std::pair<std::int64_t, std::int32_t>;  // (when it came, flow)
    BandwidthUnits units_;
    FlowTable flows_;
    std::vector<std::int64_t> came_;  // [flow] its number among all that came; -1 = not in the network
    std::int64_t num_came_ = 0;
    base::BigArray<std::int64_t> reserved_;                              // [capacity] in units
    std::vector<Waiting> waiting_;                                       // to be asked at the next update
    std::unordered_map<std::int32_t, std::vector<Waiting>> waiting_at_;  // [capacity]
    std::vector<std::int32_t> freed_;
};

}  // namespace hocket::simulation
