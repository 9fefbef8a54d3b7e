// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hocket/simulation/big_array.hpp"

namespace hocket::simulation {

/// A flow as a capacity knows it: its number, and two marks.
using Entry = std::uint32_t;
constexpr Entry bottleneck_mark = 1U << 31U;  ///< this capacity is what holds the flow back
constexpr Entry member_mark = 1U << 30U;      ///< the flow's rate is being computed
constexpr Entry flow_mask = member_mark - 1;

/// The flows that cross each capacity, with their rates in units of 2^-60 of the largest bandwidth. One cache line a
/// capacity holds all that a check of max-min fairness needs to know of it, for up to 4 flows.
class SharedLinks {
public:
    struct alignas(64) Link {
        std::int64_t bandwidth;  ///< in units; 0 = the link has not been used yet
        std::int32_t count;
        std::int32_t place;  ///< of the solver, while it computes; 0 outside
        std::int64_t own_rates[4];
        Entry own_entries[4];
    };
    struct View {
        std::int32_t count;
        Entry* entries;
        std::int64_t* rates;
    };

    explicit SharedLinks(std::int32_t num_capacities) : links_(static_cast<std::size_t>(num_capacities)) {}

    Link& operator[](std::int32_t capacity) { return links_[capacity]; }
    View view(std::int32_t capacity) {
        Link& link = links_[capacity];
        if (link.count <= own) return {link.count, link.own_entries, link.own_rates};
        Long& flows = long_[link.own_entries[0]];
        return {link.count, flows.entries.data(), flows.rates.data()};
    }
    void prefetch(std::int32_t capacity) const { __builtin_prefetch(&links_[capacity], 1); }

    void add(std::int32_t capacity, std::int32_t flow) {
        Link& link = links_[capacity];
        const std::int32_t count = link.count++;
        if (count < own) {
            link.own_entries[count] = static_cast<Entry>(flow);
            link.own_rates[count] = 0;
            return;
        }
        if (count == own) {
            if (free_.empty()) {
                free_.push_back(static_cast<Entry>(long_.size()));
                long_.emplace_back();
            }
            Long& flows = long_[free_.back()];
            flows.entries.assign(link.own_entries, link.own_entries + own);
            flows.rates.assign(link.own_rates, link.own_rates + own);
            link.own_entries[0] = free_.back();
            free_.pop_back();
        }
        long_[link.own_entries[0]].entries.push_back(static_cast<Entry>(flow));
        long_[link.own_entries[0]].rates.push_back(0);
    }

    void remove(std::int32_t capacity, std::int32_t flow) {
        Link& link = links_[capacity];
        const View flows = view(capacity);
        const std::int32_t at = place_of(flows, flow), last = flows.count - 1;
        flows.entries[at] = flows.entries[last];
        flows.rates[at] = flows.rates[last];
        --link.count;
        if (last < own) return;
        const Entry number = link.own_entries[0];
        Long& rest = long_[number];
        rest.entries.pop_back();
        rest.rates.pop_back();
        if (last > own) return;
        std::copy(rest.entries.begin(), rest.entries.end(), link.own_entries);
        std::copy(rest.rates.begin(), rest.rates.end(), link.own_rates);
        free_.push_back(number);
    }

    [[nodiscard]] static std::int32_t place_of(const View& flows, std::int32_t flow) {
        std::int32_t at = 0;
        while ((flows.entries[at] & flow_mask) != static_cast<Entry>(flow)) ++at;
        return at;
    }

private:
    static constexpr std::int32_t own = 4;
    struct Long {
        std::vector<Entry> entries;
        std::vector<std::int64_t> rates;
    };

    BigArray<Link> links_;
    std::vector<Long> long_;
    std::vector<Entry> free_;  // of long_, not in use
};

}  // namespace hocket::simulation
