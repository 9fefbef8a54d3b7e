// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/simulation/big_array.hpp"

namespace hocket::simulation {

/// Which flows cross each capacity, in no particular order. Half a cache line a capacity holds up to 8 flows, more than
/// most have; the numbers of flows lie apart, so that those of a whole path cost little to read.
class FlowLists {
public:
    explicit FlowLists(std::int32_t num_capacities)
        : counts_(static_cast<std::size_t>(num_capacities)), lists_(static_cast<std::size_t>(num_capacities)) {}

    [[nodiscard]] std::int32_t count(std::int32_t capacity) const {
        const std::int32_t small = counts_[capacity];
        return small < many ? small : static_cast<std::int32_t>(long_list(capacity).size());
    }
    [[nodiscard]] std::span<const std::int32_t> flows_on(std::int32_t capacity) const {
        const std::int32_t count = this->count(capacity);
        const std::int32_t* const own = lists_[capacity].flows;
        return {count <= own_flows ? own : long_lists_[static_cast<std::size_t>(own[0])].data(),
                static_cast<std::size_t>(count)};
    }

    void add(std::int32_t capacity, std::int32_t flow) {
        const std::int32_t count = this->count(capacity);
        counts_[capacity] = static_cast<std::uint16_t>(std::min(count + 1, many));
        List& list = lists_[capacity];
        if (count < own_flows) {
            list.flows[count] = flow;
            return;
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
    }

    void remove(std::int32_t capacity, std::int32_t flow) {
        const std::int32_t count = this->count(capacity) - 1;
        counts_[capacity] = static_cast<std::uint16_t>(std::min(count, many));
        List& list = lists_[capacity];
        if (count < own_flows) {
            for (std::int32_t i = 0; i < count; ++i)
                if (list.flows[i] == flow) list.flows[i] = list.flows[count];
            return;
        }
        // The search costs no more than looking at the other flows of the capacity, which follows.
        const std::int32_t number = list.flows[0];
        std::vector<std::int32_t>& flows = long_lists_[static_cast<std::size_t>(number)];
        *std::find(flows.begin(), flows.end(), flow) = flows.back();
        flows.pop_back();
        if (count > own_flows) return;
        std::copy(flows.begin(), flows.end(), list.flows);
        free_.push_back(number);
    }

    void fetch_count(std::int32_t capacity) const { __builtin_prefetch(&counts_[capacity]); }
    void prefetch(std::int32_t capacity) const { __builtin_prefetch(&lists_[capacity], 1); }

private:
    static constexpr std::int32_t own_flows = 8;
    static constexpr std::int32_t many = 65535;
    struct alignas(32) List {
        std::int32_t flows[own_flows];  ///< or the number of a long list
    };

    [[nodiscard]] const std::vector<std::int32_t>& long_list(std::int32_t capacity) const {
        return long_lists_[static_cast<std::size_t>(lists_[capacity].flows[0])];
    }

    BigArray<std::uint16_t> counts_;  // [capacity]; `many` = ask the long list
    BigArray<List> lists_;
    std::vector<std::vector<std::int32_t>> long_lists_;
    std::vector<std::int32_t> free_;  // long lists not in use
};

}  // namespace hocket::simulation
