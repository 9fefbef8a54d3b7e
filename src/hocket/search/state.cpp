// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/state.hpp"

namespace hocket::search {

std::int64_t State::earliest_on(std::int32_t capacity, std::int64_t bandwidth, std::int64_t rate, std::int64_t duration,
                                std::int64_t start) const {
    for (;;) {
        std::int64_t sum = 0, next = never;
        const auto load_at = [&](std::int64_t instant) {
            std::int64_t load = 0;
            for_reserved(capacity, [&](std::int64_t from, std::int64_t to, std::int64_t reserved) {
                if (from <= instant && instant < to) load += reserved;
            });
            return load;
        };
        for_reserved(capacity, [&](std::int64_t from, std::int64_t to, std::int64_t reserved) {
            if (to <= start || from >= start + duration) return;
            sum += reserved;
            next = std::min(next, to);
        });
        if (sum + rate <= bandwidth) return start;
        // Those that overlap need not all do so at once: the load is largest at the start of some.
        bool fits = load_at(start) + rate <= bandwidth;
        if (fits)
            for_reserved(capacity, [&](std::int64_t from, std::int64_t to, std::int64_t) {
                if (to > start && from > start && from < start + duration)
                    fits = fits && load_at(from) + rate <= bandwidth;
            });
        if (fits) return start;
        start = next;  // loads fall at ends only
    }
}

std::int64_t State::earliest_start(std::int32_t s, std::int32_t r, std::int64_t from_ns) const {
    const std::int64_t rate = tree_->rate(s, r), duration = tree_->time_of(rate);
    std::int64_t start = std::max(from_ns, ready_ns(s));
    for (bool moved = true; moved;) {
        moved = false;
        std::int64_t delay = 0;
        tree_->for_path(s, r, [&](std::int32_t link) {
            delay += tree_->delay_ns(link);
            const std::int64_t found =
                earliest_on(tree_->capacity_of(link), tree_->bandwidth(link), rate, duration, start + delay) - delay;
            moved = moved || found > start;
            start = found;
        });
    }
    return start;
}

void State::add(std::int32_t s, std::int32_t r, std::int64_t start_ns) {
    undo_.push_back({now_ns_, end_ns_, reserved_.size()});
    const std::int64_t rate = tree_->rate(s, r), duration = tree_->time_of(rate);
    std::int64_t from = start_ns;
    tree_->for_path(s, r, [&](std::int32_t link) {
        from += tree_->delay_ns(link);
        const std::int32_t capacity = tree_->capacity_of(link);
        std::int32_t& last = last_[static_cast<std::size_t>(capacity)];
        reserved_.push_back({from, from + duration, rate, capacity, last});
        last = static_cast<std::int32_t>(reserved_.size()) - 1;
    });
    now_ns_ = start_ns;
    end_ns_ = std::max(end_ns_, from + duration);
    ready_ns_[static_cast<std::size_t>(r)] = from + duration;
    ++num_informed_;
    transfers_.push_back({s, r, start_ns, from + duration});
}

void State::take_back() {
    ready_ns_[static_cast<std::size_t>(transfers_.back().target)] = never;
    transfers_.pop_back();
    --num_informed_;
    for (; reserved_.size() > undo_.back().num_reserved; reserved_.pop_back())
        last_[static_cast<std::size_t>(reserved_.back().capacity)] = reserved_.back().before;
    now_ns_ = undo_.back().now_ns;
    end_ns_ = undo_.back().end_ns;
    undo_.pop_back();
}

}  // namespace hocket::search
