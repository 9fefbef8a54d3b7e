// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hocket/simulation/events/flow_table.hpp"
#include "hocket/simulation/sharing/bandwidths.hpp"
#include "hocket/simulation/sharing/incremental_model.hpp"

namespace hocket::simulation {

/// Each flow has the least bandwidth of its route to itself.
class IncrementalUnshared : public IncrementalDefaults {
public:
    IncrementalUnshared(Bandwidths bandwidths, std::int32_t num_flows)
        : bandwidths_(std::move(bandwidths)), flows_(num_flows) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    void add(std::int32_t flow, const Passage& passage) {
        flows_.make_room(flow, passage.capacities.size());
        flows_.set_path(flows_[flow], passage.capacities);
        flows_[flow].rate_bytes_per_s = 0;
        added_.push_back(flow);
    }
    void remove(std::int32_t flow) {
        flows_[flow].num_capacities = 0;
        flows_[flow].rate_bytes_per_s = 0;
    }
    void replace(std::int32_t flow, const Passage& passage) { add(flow, passage); }

    template <class OnChange>
    void update(double, OnChange&& on_change) {
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

private:
    Bandwidths bandwidths_;
    FlowTable flows_;
    std::vector<std::int32_t> added_;
};

}  // namespace hocket::simulation
