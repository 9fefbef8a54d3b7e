// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/simulation/bandwidths.hpp"
#include "hocket/simulation/flow_table.hpp"

namespace hocket::simulation {

/// Each flow has the least bandwidth of its route to itself; with the interface of the models that share.
class IncrementalUnshared {
public:
    IncrementalUnshared(Bandwidths bandwidths, std::int32_t num_flows)
        : bandwidths_(std::move(bandwidths)), flows_(num_flows) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    void add(std::int32_t flow, std::span<const std::int32_t> path) {
        flows_.make_room(flow, path.size());
        flows_.set_path(flows_[flow], path);
        flows_[flow].rate_bytes_per_s = 0;
        added_.push_back(flow);
    }
    void remove(std::int32_t flow) {
        flows_[flow].num_capacities = 0;
        flows_[flow].rate_bytes_per_s = 0;
    }
    static constexpr bool keeps_rate = true;
    void replace(std::int32_t flow, std::span<const std::int32_t> path) { add(flow, path); }

    template <class OnChange>
    void update(OnChange&& on_change) {
        for (const std::int32_t flow : added_) {
            FlowRecord& record = flows_[flow];
            if (record.num_capacities == 0 || record.rate_bytes_per_s > 0) continue;
            double rate = bandwidths_.largest();
            if (!bandwidths_.is_uniform())
                for (const std::int32_t c : record.path()) rate = std::min(rate, bandwidths_[c]);
            record.rate_bytes_per_s = rate;
            on_change(flow, record, 0.0);
        }
        added_.clear();
    }

    void fetch(std::int32_t) const {}
    void fetch_flows(std::int32_t) const {}
    void fetch_records(std::int32_t, bool) const {}
    void fetch_further() const {}

private:
    Bandwidths bandwidths_;
    FlowTable flows_;
    std::vector<std::int32_t> added_;
};

}  // namespace hocket::simulation
