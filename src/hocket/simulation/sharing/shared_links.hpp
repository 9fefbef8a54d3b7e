// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hocket/base/big_array.hpp"

namespace hocket::simulation {

/// A flow as a capacity knows it: its number, and two marks.
using Entry = std::uint32_t;
constexpr Entry bottleneck_mark = 1U << 31U;  ///< this capacity is what holds the flow back
constexpr Entry member_mark = 1U << 30U;      ///< the flow's rate is being computed
constexpr Entry gone_mark = 1U << 29U;        ///< the flow has left
constexpr Entry flow_mask = gone_mark - 1;

/// The flows that cross each capacity, with their rates in units of 2^-60 of the largest bandwidth. One cache line a
/// capacity holds all that a check of max-min fairness needs to know of it, for up to 4 flows; more are kept in the
/// order of their numbers, so that one among thousands is found soon. Of these, flows that leave are only marked at
/// first: when thousands leave at once, to close the gap after each would take longer than all else.
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
        std::int32_t* next;  ///< of many: the place after the one that was looked for last
    };

    explicit SharedLinks(std::int32_t num_capacities) : links_(static_cast<std::size_t>(num_capacities)) {}

    Link& operator[](std::int32_t capacity) { return links_[capacity]; }
    /// After close_gaps(), if flows have left.
    View view(std::int32_t capacity) {
        Link& link = links_[capacity];
        if (link.count <= own) return {link.count, link.own_entries, link.own_rates, nullptr};
        Long& flows = long_[link.own_entries[0]];
        return {link.count, flows.entries.data(), flows.rates.data(), &flows.next};
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

    /// To be followed by close_gaps(), at the latest before the next view().
    void remove(std::int32_t capacity, std::int32_t flow) {
        Link& link = links_[capacity];
        const View flows = view(capacity);
        const std::int32_t at = place_of(flows, flow);
        if (link.count <= own) {
            const std::int32_t last = --link.count;
            flows.entries[at] = flows.entries[last];
            flows.rates[at] = flows.rates[last];
            return;
        }
        flows.entries[at] |= gone_mark;
        ++long_[link.own_entries[0]].gone;
    }
    /// Closes the gaps that remove() has left.
    void close_gaps(std::int32_t capacity) {
        Link& link = links_[capacity];
        if (link.count <= own) return;
        const Entry number = link.own_entries[0];
        Long& flows = long_[number];
        if (flows.gone == 0) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < flows.entries.size(); ++i) {
            if ((flows.entries[i] & gone_mark) != 0) continue;
            flows.entries[kept] = flows.entries[i];
            flows.rates[kept++] = flows.rates[i];
        }
        flows.entries.resize(kept);
        flows.rates.resize(kept);
        flows.gone = 0;
        link.count = static_cast<std::int32_t>(kept);
        if (link.count > own) return;
        std::copy(flows.entries.begin(), flows.entries.end(), link.own_entries);
        std::copy(flows.rates.begin(), flows.rates.end(), link.own_rates);
        free_.push_back(number);
    }

    [[nodiscard]] static std::int32_t place_of(const View& flows, std::int32_t flow) {
        const auto number = static_cast<Entry>(flow);
        std::int32_t at = 0;
        if (flows.count <= own) {
            while ((flows.entries[at] & flow_mask) != number) ++at;
            return at;
        }
        // Flows that come or go together are looked for in the order of their numbers.
        at = *flows.next;
        if (at >= flows.count || (flows.entries[at] & (flow_mask | gone_mark)) != number)
            at = static_cast<std::int32_t>(find(flows.entries, flows.entries + flows.count, number) - flows.entries);
        *flows.next = at + 1;
        return at;
    }

private:
    static constexpr std::int32_t own = 4;
    struct Long {
        std::vector<Entry> entries;
        std::vector<std::int64_t> rates;
        std::size_t gone = 0;
        std::int32_t next = 0;
    };

    template <class Iterator>
    static Iterator find(Iterator begin, Iterator end, Entry flow) {
        return std::lower_bound(begin, end, flow, [](Entry a, Entry b) { return (a & flow_mask) < b; });
    }
    static void insert(Long& flows, Entry entry, std::int64_t rate) {
        const bool is_last = flows.entries.empty() || (flows.entries.back() & flow_mask) < (entry & flow_mask);
        const auto at =
            is_last ? flows.entries.end() : find(flows.entries.begin(), flows.entries.end(), entry & flow_mask);
        flows.rates.insert(flows.rates.begin() + (at - flows.entries.begin()), rate);
        flows.entries.insert(at, entry);
    }

    base::BigArray<Link> links_;
    std::vector<Long> long_;
    std::vector<Entry> free_;  // of long_, not in use
};

}  // namespace hocket::simulation
