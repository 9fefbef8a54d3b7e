// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/base/big_array.hpp"

namespace hocket::simulation {

/// Which flows cross each capacity, in no particular order. Half a cache line a capacity holds their number and up to 7
/// flows, more than most have. The numbers are there a second time, in bytes that lie together: to rate a flow takes
/// those of its whole path, but not the flows.
class FlowLists {
public:
    explicit FlowLists(std::int32_t num_capacities)
        : counts_(static_cast<std::size_t>(num_capacities)), lists_(static_cast<std::size_t>(num_capacities)) {}

    /// The number of flows on the capacity, by the bytes.
    [[nodiscard]] std::int32_t count(std::int32_t capacity) const {
        const std::int32_t small = counts_[capacity];
        return small < many ? small : lists_[capacity].count;
    }
    [[nodiscard]] std::span<const std::int32_t> flows_on(std::int32_t capacity) const {
        const List& list = lists_[capacity];
        return {list.count <= own_flows ? list.flows : long_lists_[static_cast<std::size_t>(list.flows[0])].data(),
                static_cast<std::size_t>(list.count)};
    }

    /// Returns the number of flows before.
    std::int32_t add(std::int32_t capacity, std::int32_t flow) {
        List& list = lists_[capacity];
        const std::int32_t count = list.count;
        set_count(capacity, count + 1);
        if (count < own_flows) {
            list.flows[count] = flow;
            return count;
        }
        if (count == own_flows) {
            if (free_.empty()) {
                free_.push_back(static_cast<std::int32_t>(long_lists_.size()));
                long_lists_.emplace_back();
            }
            long_lists_[static_cast<std::size_t>(free_.back())].assign(list.flows, list.flows + own_flows);
            list.flows[0] = free_.back();
            free_.pop_back();
        }
        long_lists_[static_cast<std::size_t>(list.flows[0])].push_back(flow);
        return count;
    }

    /// Returns the number of flows before.
    std::int32_t remove(std::int32_t capacity, std::int32_t flow) {
        List& list = lists_[capacity];
        const std::int32_t count = list.count - 1;
        set_count(capacity, count);
        if (count < own_flows) {
            for (std::int32_t i = 0; i < count; ++i)
                if (list.flows[i] == flow) list.flows[i] = list.flows[count];
            return count + 1;
        }
        // The search costs no more than looking at the other flows of the capacity, which follows.
        const std::int32_t number = list.flows[0];
        std::vector<std::int32_t>& flows = long_lists_[static_cast<std::size_t>(number)];
        *std::find(flows.begin(), flows.end(), flow) = flows.back();
        flows.pop_back();
        if (count > own_flows) return count + 1;
        std::copy(flows.begin(), flows.end(), list.flows);
        free_.push_back(number);
        return count + 1;
    }

    void fetch_count(std::int32_t capacity) const { __builtin_prefetch(&counts_[capacity]); }
    void prefetch(std::int32_t capacity) const { __builtin_prefetch(&lists_[capacity], 1); }

private:
    static constexpr std::int32_t own_flows = 7;
    static constexpr std::int32_t many = 255;
    struct alignas(32) List {
        std::int32_t count;
        std::int32_t flows[own_flows];  ///< or the number of a long list
    };

    void set_count(std::int32_t capacity, std::int32_t count) {
        lists_[capacity].count = count;
        counts_[capacity] = static_cast<std::uint8_t>(std::min(count, many));
    }

    base::BigArray<std::uint8_t> counts_;  // [capacity]; `many` = that or more: ask the list
    base::BigArray<List> lists_;
    std::vector<std::vector<std::int32_t>> long_lists_;
    std::vector<std::int32_t> free_;  // long lists not in use
};

}  // namespace hocket::simulation
