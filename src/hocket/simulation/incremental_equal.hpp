// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/simulation/bandwidths.hpp"
#include "hocket/simulation/flow_lists.hpp"
#include "hocket/simulation/flow_table.hpp"

namespace hocket::simulation {

/// A capacity divides its bandwidth equally among the flows that cross it; a flow runs at its smallest part [Suzuki].
///
/// Incremental: where a capacity has lost a flow, only flows that ran at its former part can become faster; where it has
/// gained one, only flows faster than its new part become slower. Parts are always computed as bandwidth / flows, so that
/// rates are compared for equality, and are the same bits in whatever order flows came and went.
class IncrementalEqual {
public:
    IncrementalEqual(Bandwidths bandwidths, std::int32_t num_flows)
        : bandwidths_(std::move(bandwidths)),
          flows_(num_flows),
          lists_(bandwidths_.size()),
          is_touched_(static_cast<std::size_t>(bandwidths_.size())),
          rates_(static_cast<std::size_t>(num_flows)) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    /// The flow is not in the network. Its rate is 0 until update().
    void add(std::int32_t flow, std::span<const std::int32_t> path) {
        flows_.make_room(flow, path.size());
        if (static_cast<std::size_t>(flow) >= rates_.size()) grow_rates();
        for (const std::int32_t c : path) enter(c, flow);
        flows_.set_path(flows_[flow], path);
        expect_rate(flow);
    }
    void remove(std::int32_t flow) {
        FlowRecord& record = flows_[flow];
        for (const std::int32_t c : record.path()) leave(c, flow);
        record.num_capacities = 0;
        record.rate_bytes_per_s = rates_[flow] = 0;
    }
    /// As remove() and add().
    void replace(std::int32_t flow, std::span<const std::int32_t> path) {
        flows_.make_room(flow, path.size());
        std::span<const std::int32_t> before = flows_[flow].path(), after = path;
        trim_common(before, after);
        for (const std::int32_t c : before) leave(c, flow);
        for (const std::int32_t c : after) enter(c, flow);
        flows_.set_path(flows_[flow], path);
        expect_rate(flow);
    }

    /// Brings the rates up to date; calls `on_change(flow, record, old rate)` once for each flow whose rate changed.
    template <class OnChange>
    void update(OnChange&& on_change) {
        for (const auto [capacity, before] : touched_) {
            is_touched_[static_cast<std::size_t>(capacity)] = false;
            const std::int32_t now = lists_.count(capacity);
            if (now == before) continue;
            const double part = bandwidths_[capacity] / std::max(before, now);
            for (const std::int32_t flow : lists_.flows_on(capacity))
                if (now < before ? rates_[flow] == part : rates_[flow] > part) rate(flow, on_change);
        }
        touched_.clear();
        for (const std::int32_t flow : added_)
            if (flows_[flow].num_capacities > 0 && !(rates_[flow] > 0)) rate(flow, on_change);
        added_.clear();
    }

    void prefetch(std::int32_t capacity) const { lists_.prefetch(capacity); }

private:
    struct Touched {
        std::int32_t capacity;
        std::int32_t flows_before;
    };

    void touch(std::int32_t capacity) {
        if (is_touched_[static_cast<std::size_t>(capacity)]) return;
        is_touched_[static_cast<std::size_t>(capacity)] = true;
        touched_.push_back({capacity, lists_.count(capacity)});
    }
    void enter(std::int32_t capacity, std::int32_t flow) {
        touch(capacity);
        lists_.add(capacity, flow);
    }
    void leave(std::int32_t capacity, std::int32_t flow) {
        touch(capacity);
        lists_.remove(capacity, flow);
    }
    void expect_rate(std::int32_t flow) {
        flows_[flow].rate_bytes_per_s = rates_[flow] = 0;
        added_.push_back(flow);
    }

    template <class OnChange>
    void rate(std::int32_t flow, OnChange& on_change) {
        FlowRecord& record = flows_[flow];
        double rate = 0;
        if (bandwidths_.is_uniform()) {
            std::int32_t most = 1;
            for (const std::int32_t c : record.path()) most = std::max(most, lists_.count(c));
            rate = bandwidths_.largest() / most;
        } else {
            rate = bandwidths_.largest();
            for (const std::int32_t c : record.path()) rate = std::min(rate, bandwidths_[c] / lists_.count(c));
        }
        const double before = record.rate_bytes_per_s;
        if (rate == before) return;
        record.rate_bytes_per_s = rates_[flow] = rate;
        on_change(flow, record, before);
    }

    void grow_rates() {
        BigArray<double> rates(static_cast<std::size_t>(flows_.size()));
        std::copy(rates_.data(), rates_.data() + rates_.size(), rates.data());
        rates_ = std::move(rates);
    }

    Bandwidths bandwidths_;
    FlowTable flows_;
    FlowLists lists_;
    std::vector<bool> is_touched_;  // [capacity]
    std::vector<Touched> touched_;
    std::vector<std::int32_t> added_;
    BigArray<double> rates_;  // [flow] as in the records, dense: most flows looked at keep their rate
};

}  // namespace hocket::simulation
