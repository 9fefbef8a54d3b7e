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
/// capacity holds all that a check of max-min fairness needs to know of it, for up to 4 flows; more are kept in the order of
/// their numbers, so that one among thousands is found soon.
class SharedLinks {
public:
    struct alignas(64) Link {
        std::int64_t bandwidth;  ///< in units; 0 = the link has not been used yet
        std::int32_t count;
        std::int32_t place;  ///< of the solver; 0 = none
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
            flows.entries.clear();
            flows.rates.clear();
            for (std::int32_t i = 0; i < own; ++i) insert(flows, link.own_entries[i], link.own_rates[i]);
            link.own_entries[0] = free_.back();
            free_.pop_back();
        }
        insert(long_[link.own_entries[0]], static_cast<Entry>(flow), 0);
    }

    void remove(std::int32_t capacity, std::int32_t flow) {
        Link& link = links_[capacity];
        const View flows = view(capacity);
        const std::int32_t at = place_of(flows, flow), last = --link.count;
        if (last < own) {
            flows.entries[at] = flows.entries[last];
            flows.rates[at] = flows.rates[last];
            return;
        }
        const Entry number = link.own_entries[0];
        Long& rest = long_[number];
        rest.entries.erase(rest.entries.begin() + at);
        rest.rates.erase(rest.rates.begin() + at);
        if (last > own) return;
        std::copy(rest.entries.begin(), rest.entries.end(), link.own_entries);
        std::copy(rest.rates.begin(), rest.rates.end(), link.own_rates);
        free_.push_back(number);
    }

    [[nodiscard]] static std::int32_t place_of(const View& flows, std::int32_t flow) {
        const auto number = static_cast<Entry>(flow);
        std::int32_t at = 0;
        if (flows.count > own)
            at = static_cast<std::int32_t>(find(flows.entries, flows.entries + flows.count, number) - flows.entries);
        else
            while ((flows.entries[at] & flow_mask) != number) ++at;
        return at;
    }

private:
    static constexpr std::int32_t own = 4;
    struct Long {
        std::vector<Entry> entries;
        std::vector<std::int64_t> rates;
    };

    template <class Iterator>
    static Iterator find(Iterator begin, Iterator end, Entry flow) {
        return std::lower_bound(begin, end, flow, [](Entry a, Entry b) { return (a & flow_mask) < b; });
    }
    static void insert(Long& flows, Entry entry, std::int64_t rate) {
        const auto at = find(flows.entries.begin(), flows.entries.end(), entry & flow_mask);
        flows.rates.insert(flows.rates.begin() + (at - flows.entries.begin()), rate);
        flows.entries.insert(at, entry);
    }

    BigArray<Link> links_;
    std::vector<Long> long_;
    std::vector<Entry> free_;  // of long_, not in use
};

}  // namespace hocket::simulation
