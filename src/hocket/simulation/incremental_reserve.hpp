// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/simulation/bandwidths.hpp"
#include "hocket/simulation/flow_table.hpp"

namespace hocket::simulation {

/// A flow takes the least bandwidth of its route on every capacity there, for itself, or waits until it can [Hourai].
///
/// The paper leaves open who starts when several wait. Here they are asked in the order in which they came, and each that
/// finds room starts: one that does not fit holds nobody else back, and what waits could not have started.
///
/// A flow that waits is remembered at one capacity without room for it; nothing else can let it start.
class IncrementalReserve {
public:
    IncrementalReserve(Bandwidths bandwidths, std::int32_t num_flows)
        : bandwidths_(std::move(bandwidths)),
          flows_(num_flows),
          came_(static_cast<std::size_t>(num_flows)),
          reserved_(static_cast<std::size_t>(bandwidths_.size())) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    /// The flow is not in the network. Its rate is 0 until an update() gives it room.
    void add(std::int32_t flow, std::span<const std::int32_t> path) {
        flows_.make_room(flow, path.size());
        came_.resize(static_cast<std::size_t>(flows_.size()));
        flows_.set_path(flows_[flow], path);
        flows_[flow].rate_bytes_per_s = 0;
        came_[static_cast<std::size_t>(flow)] = num_came_;
        waiting_.push_back({num_came_++, flow});
    }
    void remove(std::int32_t flow) {
        FlowRecord& record = flows_[flow];
        if (record.rate_bytes_per_s > 0) {
            const std::int64_t units = units_of(record);
            for (const std::int32_t c : record.path()) {
                reserved_[c] -= units;
                freed_.push_back(c);
            }
        }
        record.num_capacities = 0;
        record.rate_bytes_per_s = 0;
        came_[static_cast<std::size_t>(flow)] = -1;
    }
    /// Whether a flow that is replaced on the same path just goes on. Here those that have waited longer come first.
    static constexpr bool keeps_rate = false;
    /// As remove() and add().
    void replace(std::int32_t flow, std::span<const std::int32_t> path) {
        const std::vector<std::int32_t> copy(path.begin(), path.end());  // it may be the one of the flow
        remove(flow);
        add(flow, copy);
    }

    /// Starts the flows that fit; calls `on_change(flow, record, 0)` for each.
    template <class OnChange>
    void update(OnChange&& on_change) {
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
            const std::int64_t units = units_of(record);
            const std::span<const std::int32_t> path = record.path();
            const auto full = std::find_if(path.begin(), path.end(), [&](std::int32_t c) {
                const std::int64_t room = units_of(bandwidths_[c]);
                return reserved_[c] + units > room + (room >> 40U);  // what fits exactly, fits
            });
            if (full != path.end()) {
                waiting_at_[*full].push_back({came, flow});
                continue;
            }
            for (const std::int32_t c : path) reserved_[c] += units;
            record.rate_bytes_per_s = least_bandwidth(record);
            on_change(flow, record, 0.0);
        }
        waiting_.clear();
    }

    void fetch(std::int32_t) const {}
    void fetch_flows(std::int32_t) const {}
    void fetch_records(std::int32_t, bool) const {}
    void fetch_further() const {}

private:
    /// Integers, so that what is reserved and freed adds up to nothing.
    [[nodiscard]] std::int64_t units_of(double bandwidth) const {
        constexpr double full = static_cast<double>(std::int64_t{1} << 60U);
        return std::max(static_cast<std::int64_t>(bandwidth / bandwidths_.largest() * full), std::int64_t{1});
    }
    [[nodiscard]] std::int64_t units_of(const FlowRecord& record) const { return units_of(least_bandwidth(record)); }
    [[nodiscard]] double least_bandwidth(const FlowRecord& record) const {
        double least = bandwidths_.largest();
        for (const std::int32_t c : record.path()) least = std::min(least, bandwidths_[c]);
        return least;
    }

    using Waiting = std::pair<std::int64_t, std::int32_t>;  // (when it came, flow)
    Bandwidths bandwidths_;
    FlowTable flows_;
    std::vector<std::int64_t> came_;  // [flow] its number among all that came; -1 = not in the network
    std::int64_t num_came_ = 0;
    BigArray<std::int64_t> reserved_;                                    // [capacity] in units
    std::vector<Waiting> waiting_;                                       // to be asked at the next update
    std::unordered_map<std::int32_t, std::vector<Waiting>> waiting_at_;  // [capacity]
    std::vector<std::int32_t> freed_;
};

}  // namespace hocket::simulation
