// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/simulation/big_array.hpp"
#include "hocket/simulation/flow_table.hpp"

namespace hocket::simulation {

/// The times at which flows end, earliest (time, flow) first: a calendar queue [Brown88] whose entries are late.
///
/// The truth is FlowRecord::finish_s_or_bytes. A flow has an entry on the day of its end or earlier, FlowRecord::entry; when
/// that day comes it goes on to the right one. So only an end that comes earlier needs another entry; the former one stays,
/// to be dropped when its day comes: to take it out would cost more cache misses than all else. A day has about a dozen
/// events, taken together into a small heap, so that the records of all are fetched while the first ones are handled.
class Calendar {
public:
    using Due = std::pair<double, std::int32_t>;

    explicit Calendar(FlowTable& flows) : flows_(flows), days_(64, none) {}

    /// The flow ends at its finish_s, not before the current time. To be called for each change of it after start(), which
    /// enters all flows there are.
    void enter(std::int32_t flow, FlowRecord& record) {
        if (!started_) return;
        const std::int64_t day = day_of(record.finish_s_or_bytes);
        if (day <= today_) {
            due_.emplace_back(record.finish_s_or_bytes, flow);
            std::push_heap(due_.begin(), due_.end(), later);
        } else if (const std::int32_t ahead = days_ahead(record); ahead <= 0 || today_ + ahead > day) {
            // The page is written later, once it is here.
            __builtin_prefetch(&days_[page_of(day)], 1);
            if (waiting_.size() == most_waiting) write_waiting();
            waiting_.emplace_back(note(record, day), flow);
        }
    }

    /// When the next flow ends; there is one. Calls `on_day(flows)` with the (time, flow) of each day that
    /// begins.
    template <class OnDay>
    double next_time_s(OnDay&& on_day) {
        while (!drop_stale()) next_day(on_day);
        return due_.front().first;
    }
    /// Whether a flow ends up to this time, at or soon after what next_time_s() has returned.
    template <class OnDay>
    bool is_due(double time_s, OnDay&& on_day) {
        while (today_ < day_of(time_s)) next_day(on_day);
        return drop_stale() && !(due_.front().first > time_s);
    }
    /// The flow that ends next; next_time_s() or is_due() has found it.
    std::int32_t pop() {
        const std::int32_t flow = due_.front().second;
        drop_top();
        ++num_popped_;
        return flow;
    }

    /// Fits the length of a day to the rate of events since the last call, if it has become unfit; or if most entries are
    /// stale. To be called now and then, with the number of flows in the network.
    void adapt(double now_s, std::int64_t num_flows) {
        const std::int64_t effort = num_popped_ + num_opened_;
        if (effort < num_flows / 2 + 1024 && num_entries_ < 4 * num_flows + 4096) return;
        const double wanted_s =
            events_a_day * (now_s - adapted_s_) / static_cast<double>(std::max<std::int64_t>(num_popped_, 1));
        const bool unfit = wanted_s > 0 && (wanted_s > 3 * day_s_ || 3 * wanted_s < day_s_);
        if (unfit || num_entries_ >= 4 * num_flows + 4096) rebuild(wanted_s > 0 ? wanted_s : day_s_, num_flows);
        num_popped_ = num_opened_ = 0;
        adapted_s_ = now_s;
    }
    /// Sets the length of a day from the times that the flows in the network take.
    void start(double now_s, std::int64_t num_flows) {
        double sum_s = 0;
        for (std::int32_t f = 0; f < flows_.size(); ++f)
            if (flows_[f].rate_bytes_per_s > 0) sum_s += flows_[f].finish_s_or_bytes - now_s;
        const double day_s = events_a_day * sum_s / (static_cast<double>(num_flows) * static_cast<double>(num_flows));
        rebuild(day_s > 0 ? day_s : 1, num_flows);
        started_ = true;
    }

private:
    static constexpr std::int32_t none = -1;
    static constexpr double events_a_day = 12;
    static constexpr std::size_t most_waiting = 64;
    /// Entries of a day, one cache line.
    struct alignas(64) Chunk {
        std::int32_t size;
        std::int32_t next;
        std::int32_t flows[14];
    };
    static constexpr std::int32_t chunk_flows = 14;

    static bool later(const Due& a, const Due& b) { return a > b; }
    [[nodiscard]] bool is_current(double time_s, std::int32_t flow) const {
        const FlowRecord& record = flows_[flow];
        return record.rate_bytes_per_s > 0 && record.finish_s_or_bytes == time_s;
    }
    [[nodiscard]] std::int64_t day_of(double time_s) const { return static_cast<std::int64_t>(time_s * days_per_s_); }
    [[nodiscard]] std::size_t page_of(std::int64_t day) const {
        return static_cast<std::size_t>(day) & (days_.size() - 1);
    }
    /// Whether a flow of today, or of the past, is left.
    bool drop_stale() {
        while (!due_.empty() && !is_current(due_.front().first, due_.front().second)) drop_top();
        return !due_.empty();
    }
    void drop_top() {
        std::pop_heap(due_.begin(), due_.end(), later);
        due_.pop_back();
    }

    /// How many days from now the entry of the flow is; not above 0 = it has none.
    [[nodiscard]] std::int32_t days_ahead(const FlowRecord& record) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(record.entry) - static_cast<std::uint32_t>(today_));
    }
    /// Notes the day of the entry that will be made; an end too far away for the note is entered on the way.
    std::int64_t note(FlowRecord& record, std::int64_t day) const {
        day = std::min(day, today_ + (std::int64_t{1} << 30U));
        record.entry = static_cast<std::int32_t>(static_cast<std::uint32_t>(day));
        return day;
    }

    void append(std::int64_t day, std::int32_t flow) {
        std::int32_t& head = days_[page_of(day)];
        if (head == none || chunks_[static_cast<std::size_t>(head)].size == chunk_flows) {
            std::int32_t chunk = free_;
            if (chunk == none) {
                chunk = static_cast<std::int32_t>(chunks_.size());
                chunks_.emplace_back();
            } else {
                free_ = chunks_[static_cast<std::size_t>(chunk)].next;
            }
            chunks_[static_cast<std::size_t>(chunk)].size = 0;
            chunks_[static_cast<std::size_t>(chunk)].next = head;
            head = chunk;
        }
        Chunk& chunk = chunks_[static_cast<std::size_t>(head)];
        chunk.flows[chunk.size++] = flow;
        ++num_entries_;
    }

    void write_waiting() {
        for (const auto& [day, flow] : waiting_) {
            const std::int32_t head = days_[page_of(day)];
            if (head != none) __builtin_prefetch(&chunks_[static_cast<std::size_t>(head)], 1);
        }
        for (const auto& [day, flow] : waiting_) append(day, flow);
        waiting_.clear();
    }

    template <class OnDay>
    void next_day(OnDay& on_day) {
        write_waiting();
        ++today_;
        ++num_opened_;
        std::int32_t chunk = std::exchange(days_[page_of(today_)], none);
        if (chunk == none) return;
        opened_.clear();
        while (chunk != none) {
            const Chunk& entries = chunks_[static_cast<std::size_t>(chunk)];
            for (std::int32_t i = 0; i < entries.size; ++i) {
                opened_.push_back(entries.flows[i]);
                __builtin_prefetch(&flows_[entries.flows[i]], 1);
            }
            const std::int32_t next = entries.next;
            chunks_[static_cast<std::size_t>(chunk)].next = free_;
            free_ = chunk;
            chunk = next;
        }
        num_entries_ -= static_cast<std::int64_t>(opened_.size());
        for (const std::int32_t flow : opened_) {
            FlowRecord& record = flows_[flow];
            const std::int32_t ahead = days_ahead(record);
            if (ahead > 0 && page_of(today_ + ahead) == page_of(today_)) {
                append(today_ + ahead, flow);  // of another year
            } else if (ahead == 0 && record.rate_bytes_per_s > 0) {
                const std::int64_t day = day_of(record.finish_s_or_bytes);
                if (day > today_)
                    append(note(record, day), flow);
                else
                    due_.emplace_back(record.finish_s_or_bytes, flow);
            }
        }
        std::make_heap(due_.begin(), due_.end(), later);
        on_day(std::as_const(due_));
    }

    void rebuild(double day_s, std::int64_t num_flows) {
        day_s_ = day_s;
        days_per_s_ = 1 / day_s;
        due_.clear();
        waiting_.clear();
        chunks_.clear();
        free_ = none;
        num_entries_ = 0;
        days_.assign(std::max<std::size_t>(64, std::bit_ceil(static_cast<std::size_t>(num_flows / 8 + 1))), none);
        double first_s = -1;
        for (std::int32_t f = 0; f < flows_.size(); ++f)
            if (flows_[f].rate_bytes_per_s > 0 && (first_s < 0 || flows_[f].finish_s_or_bytes < first_s))
                first_s = flows_[f].finish_s_or_bytes;
        today_ = day_of(std::max(first_s, 0.0)) - 1;
        for (std::int32_t f = 0; f < flows_.size(); ++f) {
            FlowRecord& record = flows_[f];
            note(record, today_);
            if (record.rate_bytes_per_s > 0) append(note(record, day_of(record.finish_s_or_bytes)), f);
        }
    }

    FlowTable& flows_;
    bool started_ = false;
    double day_s_ = 1, days_per_s_ = 1;
    std::int64_t today_ = -1;
    std::vector<Due> due_;                                        // heap: of today, and of the past
    std::vector<std::int32_t, BigAllocator<std::int32_t>> days_;  // [page] first chunk
    std::vector<Chunk, BigAllocator<Chunk>> chunks_;
    std::int32_t free_ = none;
    std::vector<std::pair<std::int64_t, std::int32_t>> waiting_;  // (day, flow) to be written
    std::vector<std::int32_t> opened_;
    std::int64_t num_entries_ = 0, num_popped_ = 0, num_opened_ = 0;
    double adapted_s_ = 0;
};

}  // namespace hocket::simulation
