// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hocket/base/big_array.hpp"
#include "hocket/simulation/events/flow_table.hpp"

namespace hocket::simulation {

/// The times at which flows end, earliest (time, flow) first: a calendar queue [Brown88] whose entries are late.
///
/// The truth is FlowRecord::finish_s_or_bytes. Time is cut into buckets of equal width, numbered from time 0 on; an
/// array holds one round of them, and bucket b has slot b modulo its size. A flow has an entry in the bucket of its end
/// or in an earlier one, FlowRecord::entry; when that bucket is opened, the entry moves on to the right one. So only an
/// end that comes earlier needs another entry; the former one stays, to be dropped when its bucket is opened: to take
/// it out would cost more cache misses than all else. A bucket has about a dozen events, taken together into a small
/// heap, so that the records of all are fetched while the first ones are handled.
class Calendar {
public:
    using Due = std::pair<double, std::int32_t>;

    explicit Calendar(FlowTable& flows) : flows_(flows), buckets_(64, none) {}

    /// The flow ends at its finish_s, not before the current time. To be called for each change of it after start(),
    /// which enters all flows there are.
    void enter(std::int32_t flow, FlowRecord& record) {
        if (!started_) return;
        const std::int64_t bucket = bucket_of(record.finish_s_or_bytes);
        if (bucket <= open_) {
            due_.emplace_back(record.finish_s_or_bytes, flow);
            std::push_heap(due_.begin(), due_.end(), later);
        } else if (const std::int32_t ahead = buckets_ahead(record); ahead <= 0 || open_ + ahead > bucket) {
            // The slot is written later, once it is in the cache.
            __builtin_prefetch(&buckets_[slot_of(bucket)], 1);
            if (waiting_.size() == most_waiting) write_waiting();
            waiting_.emplace_back(set_entry(record, bucket), flow);
        }
    }

    /// When the next flow ends; infinity = none moves. Calls `on_bucket(flows)` with the (time, flow) of each bucket
    /// that is opened.
    template <class OnBucket>
    double next_time_s(OnBucket&& on_bucket) {
        while (!drop_stale()) {
            if (num_entries_ == 0 && waiting_.empty()) return std::numeric_limits<double>::infinity();
            next_bucket(on_bucket);
        }
        return due_.front().first;
    }
    /// Whether a flow ends up to this time, at or soon after what next_time_s() has returned.
    template <class OnBucket>
    bool is_due(double time_s, OnBucket&& on_bucket) {
        while (open_ < bucket_of(time_s)) next_bucket(on_bucket);
        return drop_stale() && !(due_.front().first > time_s);
    }
    /// The flow that ends next; next_time_s() or is_due() has found it.
    std::int32_t pop() {
        const std::int32_t flow = due_.front().second;
        drop_top();
        ++num_popped_;
        return flow;
    }

    /// Fits the width of the buckets to the rate of events since the last call, if it has become unfit; or if most
    /// entries are stale. To be called now and then, with the number of flows in the network.
    void adapt(double now_s, std::int64_t num_flows) {
        const std::int64_t effort = num_popped_ + num_opened_;
        if (effort < num_flows / 2 + 1024 && num_entries_ < 4 * num_flows + 4096) return;
        const double wanted_s =
            events_per_bucket * (now_s - adapted_s_) / static_cast<double>(std::max<std::int64_t>(num_popped_, 1));
        const bool unfit = wanted_s > 0 && (wanted_s > 3 * bucket_s_ || 3 * wanted_s < bucket_s_);
        if (unfit || num_entries_ >= 4 * num_flows + 4096) rebuild(wanted_s > 0 ? wanted_s : bucket_s_, num_flows);
        num_popped_ = num_opened_ = 0;
        adapted_s_ = now_s;
    }
    /// Sets the width of the buckets from the times that the flows in the network take.
    void start(double now_s, std::int64_t num_flows) {
        double sum_s = 0;
        for (std::int32_t f = 0; f < flows_.size(); ++f)
            if (flows_[f].rate_bytes_per_s > 0) sum_s += flows_[f].finish_s_or_bytes - now_s;
        const double bucket_s =
            events_per_bucket * sum_s / (static_cast<double>(num_flows) * static_cast<double>(num_flows));
        rebuild(bucket_s > 0 ? bucket_s : 1, num_flows);
        started_ = true;
    }

private:
    static constexpr std::int32_t none = -1;
    static constexpr double events_per_bucket = 12;
    static constexpr std::size_t most_waiting = 64;
    /// Entries of a bucket, one cache line.
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
    [[nodiscard]] std::int64_t bucket_of(double time_s) const {
        return static_cast<std::int64_t>(time_s * buckets_per_s_);
    }
    [[nodiscard]] std::size_t slot_of(std::int64_t bucket) const {
        return static_cast<std::size_t>(bucket) & (buckets_.size() - 1);
    }
    /// Whether a flow of the open bucket, or of an earlier one, is left.
    bool drop_stale() {
        while (!due_.empty() && !is_current(due_.front().first, due_.front().second)) drop_top();
        return !due_.empty();
    }
    void drop_top() {
        std::pop_heap(due_.begin(), due_.end(), later);
        due_.pop_back();
    }

    /// How many buckets after the open one the entry of the flow is; not above 0 = it has none.
    [[nodiscard]] std::int32_t buckets_ahead(const FlowRecord& record) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(record.entry) - static_cast<std::uint32_t>(open_));
    }
    /// Sets the bucket of the entry that will be made; an end too far away for 32 bits is entered on the way.
    std::int64_t set_entry(FlowRecord& record, std::int64_t bucket) const {
        bucket = std::min(bucket, open_ + (std::int64_t{1} << 30U));
        record.entry = static_cast<std::int32_t>(static_cast<std::uint32_t>(bucket));
        return bucket;
    }

    void append(std::int64_t bucket, std::int32_t flow) {
        std::int32_t& head = buckets_[slot_of(bucket)];
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
        for (const auto& [bucket, flow] : waiting_) {
            const std::int32_t head = buckets_[slot_of(bucket)];
            if (head != none) __builtin_prefetch(&chunks_[static_cast<std::size_t>(head)], 1);
        }
        for (const auto& [bucket, flow] : waiting_) append(bucket, flow);
        waiting_.clear();
    }

    template <class OnBucket>
    void next_bucket(OnBucket& on_bucket) {
        write_waiting();
        ++open_;
        ++num_opened_;
        std::int32_t chunk = std::exchange(buckets_[slot_of(open_)], none);
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
            const std::int32_t ahead = buckets_ahead(record);
            if (ahead > 0 && slot_of(open_ + ahead) == slot_of(open_)) {
                append(open_ + ahead, flow);  // of a later round
            } else if (ahead == 0 && record.rate_bytes_per_s > 0) {
                const std::int64_t bucket = bucket_of(record.finish_s_or_bytes);
                if (bucket > open_)
                    append(set_entry(record, bucket), flow);
                else
                    due_.emplace_back(record.finish_s_or_bytes, flow);
            }
        }
        std::make_heap(due_.begin(), due_.end(), later);
        on_bucket(std::as_const(due_));
    }

    void rebuild(double bucket_s, std::int64_t num_flows) {
        bucket_s_ = bucket_s;
        buckets_per_s_ = 1 / bucket_s;
        due_.clear();
        waiting_.clear();
        chunks_.clear();
        free_ = none;
        num_entries_ = 0;
        buckets_.assign(std::max<std::size_t>(64, std::bit_ceil(static_cast<std::size_t>(num_flows / 8 + 1))), none);
        double first_s = -1;
        for (std::int32_t f = 0; f < flows_.size(); ++f)
            if (flows_[f].rate_bytes_per_s > 0 && (first_s < 0 || flows_[f].finish_s_or_bytes < first_s))
                first_s = flows_[f].finish_s_or_bytes;
        open_ = bucket_of(std::max(first_s, 0.0)) - 1;
        for (std::int32_t f = 0; f < flows_.size(); ++f) {
            FlowRecord& record = flows_[f];
            set_entry(record, open_);
            if (record.rate_bytes_per_s > 0) append(set_entry(record, bucket_of(record.finish_s_or_bytes)), f);
        }
    }

    FlowTable& flows_;
    bool started_ = false;
    double bucket_s_ = 1, buckets_per_s_ = 1;
    std::int64_t open_ = -1;
    std::vector<Due> due_;  // heap: of the open bucket and of earlier ones
    std::vector<std::int32_t, base::BigAllocator<std::int32_t>> buckets_;  // [slot] first chunk of entries
    std::vector<Chunk, base::BigAllocator<Chunk>> chunks_;
    std::int32_t free_ = none;
    std::vector<std::pair<std::int64_t, std::int32_t>> waiting_;  // (bucket, flow) to be written
    std::vector<std::int32_t> opened_;
    std::int64_t num_entries_ = 0, num_popped_ = 0, num_opened_ = 0;
    double adapted_s_ = 0;
};

}  // namespace hocket::simulation
