// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/sharing/incremental_maxmin.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

namespace hocket::simulation {
namespace {

constexpr std::int64_t no_share = std::numeric_limits<std::int64_t>::max();

}  // namespace

IncrementalMaxMin::IncrementalMaxMin(Bandwidths bandwidths, std::int32_t num_flows)
    : bandwidths_(std::move(bandwidths)),
      unit_bytes_per_s_(bandwidths_.largest() / static_cast<double>(full)),
      flows_(num_flows),
      links_(bandwidths_.size()) {}

void IncrementalMaxMin::add(std::int32_t flow, const Passage& passage) {
    const std::span<const std::int32_t> path = passage.capacities;
    flows_.make_room(flow, path.size());
    for (const std::int32_t c : path) enter(c, flow);
    flows_.set_path(flows_[flow], path);
    flows_[flow].rate_bytes_per_s = 0;
    added_.push_back(flow);
}

void IncrementalMaxMin::remove(std::int32_t flow) {
    FlowRecord& record = flows_[flow];
    for (const std::int32_t c : record.path()) leave(c, flow);
    record.num_capacities = 0;
    record.rate_bytes_per_s = 0;
}

void IncrementalMaxMin::replace(std::int32_t flow, const Passage& passage) {
    const std::span<const std::int32_t> path = passage.capacities;
    flows_.make_room(flow, path.size());
    std::span<const std::int32_t> before = flows_[flow].path(), after = path;
    trim_common(before, after);
    for (const std::int32_t c : before) leave(c, flow);
    for (const std::int32_t c : after) enter(c, flow);
    flows_.set_path(flows_[flow], path);
    flows_[flow].rate_bytes_per_s = 0;
    added_.push_back(flow);
}

void IncrementalMaxMin::solve() {
    for (const std::int32_t capacity : touched_) {
        links_[capacity].place = 0;
        links_.close_gaps(capacity);
        const SharedLinks::View flows = links_.view(capacity);
        for (std::int32_t i = 0; i < flows.count; ++i)
            if ((flows.entries[i] & bottleneck_mark) != 0)
                add_member(static_cast<std::int32_t>(flows.entries[i] & flow_mask));
    }
    touched_.clear();
    constexpr std::size_t many = 256;
    do {
        if (members_.size() > num_placed_ + many) sort_new_members();
        open_paths_of_new_members();
        fill();
    } while (expand());
    commit();
}

/// Flows are marked as members by FlowRecord::member, one more than their index.
void IncrementalMaxMin::add_member(std::int32_t flow) {
    FlowRecord& record = flows_[flow];
    if (record.member != 0) return;
    members_.push_back({flow, -1, 0, 0});
    record.member = static_cast<std::int32_t>(members_.size());
    for (const std::int32_t c : record.path()) links_.prefetch(c);
}

/// In the order in which capacities list them, each is found after the one before.
void IncrementalMaxMin::sort_new_members() {
    const auto first = members_.begin() + static_cast<std::ptrdiff_t>(num_placed_);
    const auto by_flow = [](const Member& a, const Member& b) { return a.flow < b.flow; };
    if (std::is_sorted(first, members_.end(), by_flow)) return;
    std::sort(first, members_.end(), by_flow);
    for (std::size_t m = num_placed_; m < members_.size(); ++m)
        flows_[members_[m].flow].member = static_cast<std::int32_t>(m) + 1;
}

void IncrementalMaxMin::open_paths_of_new_members() {
    for (; num_placed_ < members_.size(); ++num_placed_) {
        Member& member = members_[num_placed_];
        member.first_place = places_.size();
        for (const std::int32_t capacity : flows_[member.flow].path()) {
            const std::int32_t at = open(capacity);
            const SharedLinks::View flows = links_.view(capacity);
            const std::int32_t entry = SharedLinks::place_of(flows, member.flow);
            flows.entries[entry] = static_cast<Entry>(member.flow) | member_mark;
            Open& link = open_[static_cast<std::size_t>(at)];
            ++link.members;
            link.others -= flows.rates[entry];
            link.fastest_other = -1;  // to be looked up
            places_.push_back({at, entry});
        }
    }
    for (Open& link : open_) {
        if (link.fastest_other >= 0) continue;
        link.fastest_other = 0;
        link.holds_others = false;
        const SharedLinks::View flows = links_.view(link.capacity);
        for (std::int32_t i = 0; i < flows.count; ++i) {
            if ((flows.entries[i] & member_mark) != 0) continue;
            link.fastest_other = std::max(link.fastest_other, flows.rates[i]);
            link.holds_others = link.holds_others || (flows.entries[i] & bottleneck_mark) != 0;
        }
    }
}

/// The index of the capacity in open_; Link::place is one more.
std::int32_t IncrementalMaxMin::open(std::int32_t capacity) {
    SharedLinks::Link& link = links_[capacity];
    if (link.place != 0) return link.place - 1;
    if (link.bandwidth == 0)
        link.bandwidth =
            static_cast<std::int64_t>(bandwidths_[capacity] / bandwidths_.largest() * static_cast<double>(full));
    const SharedLinks::View flows = links_.view(capacity);
    std::int64_t sum = 0;
    for (std::int32_t i = 0; i < flows.count; ++i) sum += flows.rates[i];
    open_.push_back({capacity, 0, 0, false, false, link.bandwidth, sum, -1, 0, 0});
    link.place = static_cast<std::int32_t>(open_.size());
    return link.place - 1;
}

/// Progressive filling of the members in what the others leave.
void IncrementalMaxMin::fill() {
    shares_.clear();
    for (Open& link : open_) {
        link.left = link.bandwidth - link.others;
        link.growing = link.members;
        link.last_share = 0;
        link.sets_rates = false;
        shares_.push_back(link.growing == 1 ? link.left : link.left / link.growing);
    }
    for (Member& member : members_) member.bottleneck = -1;
    num_settled_ = 0;
    constexpr std::size_t few = 96;
    if (open_.size() <= few)
        fill_few();
    else
        fill_many();
}

void IncrementalMaxMin::fill_few() {
    while (num_settled_ < members_.size()) {
        std::int64_t least = no_share;
        for (const std::int64_t share : shares_) least = std::min(least, share);
        const auto at = static_cast<std::int32_t>(std::find(shares_.begin(), shares_.end(), least) - shares_.begin());
        settle(at, least);
    }
}

/// Shares only grow while filling, so that one which has grown since it was put in goes back to its place.
void IncrementalMaxMin::fill_many() {
    heap_.clear();
    for (std::size_t i = 0; i < shares_.size(); ++i) heap_.emplace_back(shares_[i], static_cast<std::int32_t>(i));
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    while (num_settled_ < members_.size()) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        const auto [share, at] = heap_.back();
        const std::int64_t now = shares_[static_cast<std::size_t>(at)];
        if (now == share) {
            heap_.pop_back();
            settle(at, share);
        } else if (now == no_share) {
            heap_.pop_back();
        } else {
            heap_.back().first = now;
            std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
        }
    }
}

/// The members that still grow on this capacity get its share.
void IncrementalMaxMin::settle(std::int32_t at, std::int64_t share) {
    open_[static_cast<std::size_t>(at)].sets_rates = true;
    const SharedLinks::View flows = links_.view(open_[static_cast<std::size_t>(at)].capacity);
    for (std::int32_t i = 0; i < flows.count; ++i) {
        if ((flows.entries[i] & member_mark) == 0) continue;
        const FlowRecord& record = flows_[static_cast<std::int32_t>(flows.entries[i] & flow_mask)];
        Member& member = members_[static_cast<std::size_t>(record.member - 1)];
        if (member.bottleneck >= 0) continue;
        member.bottleneck = at;
        member.rate = share;
        ++num_settled_;
        for (std::int32_t k = 0; k < record.num_capacities; ++k) {
            const auto o = static_cast<std::size_t>(places_[member.first_place + static_cast<std::size_t>(k)].open);
            Open& link = open_[o];
            link.left -= share;
            link.last_share = share;
            --link.growing;
            shares_[o] = link.growing == 0 ? no_share : link.growing == 1 ? link.left : link.left / link.growing;
        }
    }
}

/// Adds as members the flows that have no bottleneck any more, and those that keep a member from having one. Returns
/// whether there are any.
bool IncrementalMaxMin::expand() {
    const std::size_t members_before = members_.size();
    for (std::size_t o = 0; o < open_.size(); ++o) {
        const Open& link = open_[o];
        const std::int64_t slack = slack_of(link.bandwidth);
        const bool blocks = link.sets_rates && link.fastest_other > link.last_share + slack;
        if (!blocks && !link.holds_others) continue;
        const std::int64_t fastest = std::max(link.fastest_other, link.last_share);
        const bool is_full = link.left <= slack;
        if (!blocks && is_full && fastest == link.fastest_other) continue;  // none of the others is overtaken
        const SharedLinks::View flows = links_.view(link.capacity);
        for (std::int32_t i = 0; i < flows.count; ++i) {
            const Entry entry = flows.entries[i];
            if ((entry & member_mark) != 0) continue;
            const auto flow = static_cast<std::int32_t>(entry & flow_mask);
            if (blocks && flows.rates[i] > link.last_share + slack) {
                add_member(flow);
            } else if ((entry & bottleneck_mark) != 0 && !(is_full && flows.rates[i] + slack >= fastest)) {
                if (flows_[flow].member == 0 && !finds_bottleneck(flow, link.capacity)) add_member(flow);
            }
        }
    }
    return members_.size() > members_before;
}

/// Whether another capacity of the flow, which is not a member, holds it back as things stand; if so that is its
/// bottleneck.
bool IncrementalMaxMin::finds_bottleneck(std::int32_t flow, std::int32_t other_than) {
    const std::span<const std::int32_t> path = flows_[flow].path();
    for (const std::int32_t capacity : path) {
        if (capacity == other_than) continue;
        const SharedLinks::Link& link = links_[capacity];
        if (link.bandwidth == 0) continue;
        const SharedLinks::View flows = links_.view(capacity);
        const std::int32_t entry = SharedLinks::place_of(flows, flow);
        std::int64_t left = link.bandwidth, fastest = 0;
        if (link.place != 0) {
            const Open& open = open_[static_cast<std::size_t>(link.place - 1)];
            left = open.left;
            fastest = std::max(open.fastest_other, open.last_share);
        } else {
            for (std::int32_t i = 0; i < flows.count; ++i) {
                left -= flows.rates[i];
                fastest = std::max(fastest, flows.rates[i]);
            }
        }
        const std::int64_t slack = slack_of(link.bandwidth);
        if (left > slack || flows.rates[entry] + slack < fastest) continue;
        flows.entries[entry] |= bottleneck_mark;
        if (link.place != 0) open_[static_cast<std::size_t>(link.place - 1)].holds_others = true;
        const SharedLinks::View former = links_.view(other_than);
        former.entries[SharedLinks::place_of(former, flow)] &= ~bottleneck_mark;
        return true;
    }
    return false;
}

void IncrementalMaxMin::commit() {
    for (const Member& member : members_) {
        FlowRecord& record = flows_[member.flow];
        record.member = 0;
        for (std::int32_t k = 0; k < record.num_capacities; ++k) {
            const Place& place = places_[member.first_place + static_cast<std::size_t>(k)];
            const SharedLinks::View flows = links_.view(record.capacities()[k]);
            flows.entries[place.entry] =
                static_cast<Entry>(member.flow) | (place.open == member.bottleneck ? bottleneck_mark : 0);
            flows.rates[place.entry] = member.rate;
        }
    }
    for (const Open& link : open_) links_[link.capacity].place = 0;
    open_.clear();
    num_placed_ = 0;
}

}  // namespace hocket::simulation
