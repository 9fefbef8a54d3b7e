// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/simulation/events/flow_table.hpp"
#include "hocket/simulation/sharing/bandwidths.hpp"
#include "hocket/simulation/sharing/incremental_model.hpp"
#include "hocket/simulation/sharing/shared_links.hpp"

namespace hocket::simulation {

/// Max-min fairness, computed again only where it changes: solve, verify, expand.
///
/// Rates are max-min fair exactly if each flow crosses a capacity, its bottleneck, that is full and on which no flow is
/// faster [Bertsekas92, sec. 6.5.2]. So, when flows have come and gone: let the members be the new flows and those that
/// had their bottleneck where something changed. Give the members what the others leave, by progressive filling; look
/// whether every flow on the capacities of the members still has a bottleneck; add those that have none, and those that
/// keep a member from having one; repeat. Capacities without a member have not changed, and neither have the
/// bottlenecks there.
///
/// Rates and bandwidths are integers in units of 2^-60 of the largest bandwidth: sums are exact, whatever their order,
/// and never exceed the bandwidth. A share rounded down leaves less than a unit for each flow; `slack_of` allows for
/// what becomes of that along chains of shares.
class IncrementalMaxMin : public IncrementalDefaults {
public:
    IncrementalMaxMin(Bandwidths bandwidths, std::int32_t num_flows);

    /// Whether units are fine enough for these bandwidths.
    static bool suits(const Bandwidths& bandwidths) {
        constexpr double most = 1 << 20;
        return !(bandwidths.largest() > most * bandwidths.smallest());
    }

    [[nodiscard]] FlowTable& flows() { return flows_; }
    [[nodiscard]] const FlowTable& flows() const { return flows_; }

    void add(std::int32_t flow, const Passage&);
    void remove(std::int32_t flow);
    void replace(std::int32_t flow, const Passage&);

    /// Calls `on_change` once for each flow, unless more than `most_at_once` flows were added.
    template <class OnChange>
    void update(double, OnChange&& on_change) {
        if (touched_.empty() && added_.empty()) return;
        // Those still to come count as flows of rate 0, which hold nobody back.
        std::size_t next = 0;
        do {
            const std::size_t last = std::min(added_.size(), next + most_at_once);
            for (; next < last; ++next)
                if (flows_[added_[next]].num_capacities > 0) add_member(added_[next]);
            solve();
            for (const Member& member : members_) {
                FlowRecord& record = flows_[member.flow];
                const double before = record.rate_bytes_per_s;
                const double rate = static_cast<double>(member.rate) * unit_bytes_per_s_;
                if (rate == before) continue;
                record.rate_bytes_per_s = rate;
                on_change(member.flow, record, before);
            }
            members_.clear();
            places_.clear();
        } while (next < added_.size());
        added_.clear();
    }
    /// Bounds the memory that the start of a million flows takes.
    static constexpr std::size_t most_at_once = 65536;

    // What update() will visit if a flow enters or leaves the capacity: the capacity; then the flows that it holds
    // back; then their other capacities.
    void fetch(std::int32_t capacity) const { links_.prefetch(capacity); }
    void fetch_flows(std::int32_t capacity) {
        for_held_flows(capacity, [&](std::int32_t flow) {
            __builtin_prefetch(&flows_[flow], 1);
            fetched_.push_back(flow);
        });
    }
    void fetch_records(std::int32_t, bool) const {}
    void fetch_further() {
        for (const std::int32_t flow : fetched_)
            for (const std::int32_t c : flows_[flow].path()) links_.prefetch(c);
        fetched_.clear();
    }

private:
    static constexpr std::int32_t touched = -1;  ///< Link::place of a capacity in touched_
    static constexpr std::int64_t full = std::int64_t{1} << 60U;

    /// A flow whose rate is being computed.
    struct Member {
        std::int32_t flow;
        std::int32_t bottleneck;  ///< index into open_, or -1 until it is settled
        std::size_t first_place;  ///< into places_, one for each capacity of the flow
        std::int64_t rate;
    };
    /// A capacity that a member crosses, as an index into open_, and the member's entry there.
    struct Place {
        std::int32_t open;
        std::int32_t entry;
    };
    /// A capacity that members cross.
    struct Open {
        std::int32_t capacity;
        std::int32_t members;  ///< on it
        std::int32_t growing;  ///< of these, while filling
        bool holds_others;     ///< it is the bottleneck of others than members
        bool sets_rates;       ///< it is the bottleneck of members
        std::int64_t bandwidth;
        std::int64_t others;  ///< sum of their rates
        std::int64_t fastest_other;
        std::int64_t left;        ///< of the bandwidth
        std::int64_t last_share;  ///< of the member settled last, which is the fastest
    };

    static std::int64_t slack_of(std::int64_t bandwidth) { return (bandwidth >> 44U) + 8; }

    template <class Visit>
    void for_held_flows(std::int32_t capacity, Visit&& visit) {
        const SharedLinks::View flows = links_.view(capacity);
        for (std::int32_t i = 0; i < flows.count; ++i)
            if ((flows.entries[i] & bottleneck_mark) != 0)
                visit(static_cast<std::int32_t>(flows.entries[i] & flow_mask));
    }
    /// Once, though many flows come or go there at the same time.
    void touch(std::int32_t capacity) {
        if (links_[capacity].place == touched) return;
        links_[capacity].place = touched;
        touched_.push_back(capacity);
    }
    void enter(std::int32_t capacity, std::int32_t flow) {
        links_.add(capacity, flow);
        touch(capacity);
    }
    void leave(std::int32_t capacity, std::int32_t flow) {
        links_.remove(capacity, flow);
        touch(capacity);
    }
    void solve();
    void add_member(std::int32_t flow);
    void sort_new_members();
    void open_paths_of_new_members();
    std::int32_t open(std::int32_t capacity);
    void fill();
    void settle(std::int32_t at, std::int64_t share);
    void fill_few();
    void fill_many();
    bool expand();
    bool finds_bottleneck(std::int32_t flow, std::int32_t other_than);
    void commit();

    Bandwidths bandwidths_;
    double unit_bytes_per_s_;
    FlowTable flows_;
    SharedLinks links_;
    std::vector<std::int32_t> touched_;  // capacities that flows have entered or left
    std::vector<std::int32_t> added_;
    std::vector<std::int32_t> fetched_;  // flows whose records have been fetched
    std::vector<Member> members_;
    std::vector<Place> places_;
    std::vector<Open> open_;
    std::vector<std::int64_t> shares_;                         // [open] while filling
    std::vector<std::pair<std::int64_t, std::int32_t>> heap_;  // (share, open)
    std::size_t num_placed_ = 0;                               // members whose capacities are open
    std::size_t num_settled_ = 0;
};

}  // namespace hocket::simulation
