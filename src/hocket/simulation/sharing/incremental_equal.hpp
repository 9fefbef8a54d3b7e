// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/simulation/events/flow_table.hpp"
#include "hocket/simulation/sharing/bandwidths.hpp"
#include "hocket/simulation/sharing/flow_lists.hpp"
#include "hocket/simulation/sharing/incremental_model.hpp"

namespace hocket::simulation {

/// A capacity divides its bandwidth equally among the flows that cross it; a flow runs at its smallest part [Suzuki].
///
/// Incremental: where a capacity has lost a flow, only flows that ran at its former part can become faster; where it
/// has gained one, only flows faster than its new part become slower. Parts are always computed as bandwidth / flows,
/// so that rates are compared for equality, and are the same bits in whatever order flows came and went.
class IncrementalEqual : public IncrementalDefaults {
public:
    IncrementalEqual(Bandwidths bandwidths, std::int32_t num_flows)
        : bandwidths_(std::move(bandwidths)),
          flows_(num_flows),
          lists_(bandwidths_.size()),
          most_(static_cast<std::size_t>(bandwidths_.is_uniform() ? num_flows : 0)),
          rates_(static_cast<std::size_t>(bandwidths_.is_uniform() ? 0 : num_flows)) {}

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    void add(std::int32_t flow, const Passage& passage) {
        const std::span<const std::int32_t> path = passage.capacities;
        flows_.make_room(flow, path.size());
        if (static_cast<std::size_t>(flow) >= std::max(most_.size(), rates_.size())) grow();
        for (const std::int32_t c : path) enter(c, flow);
        flows_.set_path(flows_[flow], path);
        expect_rate(flow);
    }
    void remove(std::int32_t flow) {
        FlowRecord& record = flows_[flow];
        for (const std::int32_t c : record.path()) leave(c, flow);
        record.num_capacities = 0;
        record.rate_bytes_per_s = 0;
    }
    void replace(std::int32_t flow, const Passage& passage) {
        const std::span<const std::int32_t> path = passage.capacities;
        flows_.make_room(flow, path.size());
        std::span<const std::int32_t> before = flows_[flow].path(), after = path;
        trim_common(before, after);
        for (const std::int32_t c : before) leave(c, flow);
        for (const std::int32_t c : after) enter(c, flow);
        flows_.set_path(flows_[flow], path);
        expect_rate(flow);
    }

    /// Calls `on_change` once for each flow.
    template <class OnChange>
    void update(double, OnChange&& on_change) {
        for (const auto [capacity, before] : touched_) {
            const std::span<const std::int32_t> flows = lists_.flows_on(capacity);
            const auto now = static_cast<std::int32_t>(flows.size());
            if (now == before) continue;
            for_affected(flows, capacity, before, now, [&](std::int32_t flow) {
                if (now > before) slow_down(flow, capacity, now);
                affected_.push_back({flow, now < before});
            });
        }
        touched_.clear();
        for (const std::int32_t flow : added_)
            if (flows_[flow].num_capacities > 0) affected_.push_back({flow, true});
        added_.clear();
        for (const auto [flow, recount] : affected_) rate(flow, recount, on_change);
        affected_.clear();
    }

    // What update() will visit if a flow enters or leaves the capacity: its list; then the flows on it; then the
    // records of those that will get another rate; then what their rates depend on.
    void fetch(std::int32_t capacity) const {
        lists_.prefetch(capacity);
        lists_.fetch_count(capacity);
    }
    void fetch_flows(std::int32_t capacity) const {
        for (const std::int32_t flow : lists_.flows_on(capacity)) {
            if (bandwidths_.is_uniform())
                __builtin_prefetch(&most_[flow]);
            else
                __builtin_prefetch(&rates_[flow]);
        }
    }
    void fetch_records(std::int32_t capacity, bool enters) {
        const std::span<const std::int32_t> flows = lists_.flows_on(capacity);
        const auto count = static_cast<std::int32_t>(flows.size());
        for_affected(flows, capacity, count, enters ? count + 1 : count - 1, [&](std::int32_t flow) {
            __builtin_prefetch(&flows_[flow], 1);
            fetched_.push_back(flow);
        });
    }
    void fetch_further() {
        for (const std::int32_t flow : fetched_)
            for (const std::int32_t c : flows_[flow].path()) lists_.fetch_count(c);
        fetched_.clear();
    }

private:
    /// A flow that may get another rate: its speed is known already, or has to be looked for on the whole of its path.
    struct Affected {
        std::int32_t flow;
        bool recount;
    };
    struct Touched {
        std::int32_t capacity;
        std::int32_t flows_before;
    };

    void enter(std::int32_t capacity, std::int32_t flow) { touched_.push_back({capacity, lists_.add(capacity, flow)}); }
    void leave(std::int32_t capacity, std::int32_t flow) {
        touched_.push_back({capacity, lists_.remove(capacity, flow)});
    }
    void expect_rate(std::int32_t flow) {
        flows_[flow].rate_bytes_per_s = 0;
        set_speed(flow, many, 0);
        added_.push_back(flow);
    }

    /// Visits the flows, of this capacity, whose rate may change when their number becomes `now` from `before`.
    template <class Visit>
    void for_affected(std::span<const std::int32_t> flows, std::int32_t capacity, std::int32_t before, std::int32_t now,
                      Visit&& visit) const {
        if (bandwidths_.is_uniform()) {
            const std::int32_t most = std::min(std::max(before, now), many);
            for (const std::int32_t flow : flows)
                if (now < before ? most_[flow] == most : now > many || most_[flow] < most) visit(flow);
        } else {
            const double part = bandwidths_[capacity] / std::max(before, now);
            for (const std::int32_t flow : flows)
                if (now < before ? rates_[flow] == part : rates_[flow] > part) visit(flow);
        }
    }

    /// A flow that runs faster than its part of a capacity that was entered: the part is its rate, whatever the rest of
    /// its path offers.
    void slow_down(std::int32_t flow, std::int32_t capacity, std::int32_t now) {
        set_speed(flow, now, bandwidths_.is_uniform() ? 0 : bandwidths_[capacity] / now);
    }

    template <class OnChange>
    void rate(std::int32_t flow, bool recount, OnChange& on_change) {
        FlowRecord& record = flows_[flow];
        const bool uniform = bandwidths_.is_uniform();
        recount = recount || (uniform && most_[flow] == many);
        double rate = bandwidths_.largest();
        if (uniform) {
            std::int32_t most = recount ? 1 : most_[flow];
            if (recount)
                for (const std::int32_t c : record.path()) most = std::max(most, lists_.count(c));
            rate /= most;
            set_speed(flow, most, 0);
        } else {
            if (recount)
                for (const std::int32_t c : record.path()) rate = std::min(rate, bandwidths_[c] / lists_.count(c));
            else
                rate = rates_[flow];
            set_speed(flow, 0, rate);
        }
        const double before = record.rate_bytes_per_s;
        if (rate == before) return;
        record.rate_bytes_per_s = rate;
        on_change(flow, record, before);
    }

    void set_speed(std::int32_t flow, std::int32_t most, double rate) {
        if (bandwidths_.is_uniform())
            most_[flow] = static_cast<std::uint8_t>(std::min(most, many));
        else
            rates_[flow] = rate;
    }

    void grow() {
        const auto grow_one = [this]<class T>(base::BigArray<T>& array) {
            base::BigArray<T> larger(static_cast<std::size_t>(flows_.size()));
            std::copy(array.data(), array.data() + array.size(), larger.data());
            array = std::move(larger);
        };
        if (bandwidths_.is_uniform())
            grow_one(most_);
        else
            grow_one(rates_);
    }

    static constexpr std::int32_t many = 255;
    Bandwidths bandwidths_;
    FlowTable flows_;
    FlowLists lists_;
    std::vector<Touched> touched_;  // the first of a capacity has its flows at the last update; others do no harm
    std::vector<std::int32_t> added_;
    std::vector<Affected> affected_;
    std::vector<std::int32_t> fetched_;  // flows whose records have been fetched
    // The speed of each flow, dense, since most flows that are looked at keep theirs. With one bandwidth for all, the
    // number of flows on the fullest of its capacities (`many` = that or more) is as good as the rate, and takes less
    // memory.
    base::BigArray<std::uint8_t> most_;
    base::BigArray<double> rates_;
};

}  // namespace hocket::simulation
