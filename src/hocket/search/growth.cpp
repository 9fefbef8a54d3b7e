// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/growth.hpp"

#include <algorithm>
#include <functional>

namespace hocket::search {

void Growth::begin() {
    receivers_ = {};
    missing_.clear();
}

void Growth::add_receiver(const Unit& unit) {
    missing_.push_back(&unit);
    receivers_.best_in = std::max(receivers_.best_in, unit.best_in);
    receivers_.worst_in = std::min(receivers_.worst_in, unit.worst_in);
    receivers_.near_in_ns = std::min(receivers_.near_in_ns, unit.near_in_ns);
    receivers_.near_out_ns = std::min(receivers_.near_out_ns, unit.near_out_ns);
}

Sender Growth::sender_of(const Unit& unit, std::int64_t from_ns) const {
    const std::int64_t fastest = std::min(unit.best_out, receivers_.best_in);
    const std::int64_t slowest = std::min(unit.worst_out, receivers_.worst_in);
    const std::int64_t at_once = std::max<std::int64_t>(1, unit.out_bandwidth / slowest);
    std::int64_t bandwidth = unit.out_bandwidth;
    if (fastest == slowest) bandwidth = std::min(bandwidth, at_once * fastest);
    return {from_ns, from_ns, 0, bandwidth, tree_->time_of(fastest), at_once, unit.best_out};
}

std::int64_t Growth::helped_ns(std::int64_t first_ns, const Unit& unit) const {
    return first_ns + tree_->time_of(unit.best_in) + unit.near_in_ns + unit.near_out_ns;
}

/// The earliest end of the sender's next message.
std::int64_t Growth::next_completion(const Sender& sender) const {
    const std::int64_t k = sender.num_sent + 1;
    const std::int64_t left = k * tree_->bytes() - sender.base_bytes;
    std::int64_t time = sender.from_ns;
    if (left > 0) time = sender.base_ns + time_ns(left, sender.bandwidth);
    const std::int64_t new_ones = std::max<std::int64_t>(0, k - sender.num_begun);
    time =
        std::max(time, std::min(sender.late_ns + sender.late_least_ns,
                                sender.from_ns + (new_ones + sender.at_once - 1) / sender.at_once * sender.least_ns));
    return time > sender.pause_before_ns ? time + sender.pause_ns : time;
}

void Growth::let_pause(Sender& sender, const Unit& unit, std::int64_t latest_ns) {
    sender.pause_before_ns = latest_ns;
    sender.pause_ns = unit.pause_ns;
}

void Growth::start_heap() {
    begin_pool();
    fill_heap();
}

void Growth::begin_pool() {
    num_first_ = senders_.size();
    pooled_ = {};
    pooled_senders_.clear();
}

void Growth::fill_heap() {
    heap_.clear();
    for (std::size_t i = 0; i < senders_.size(); ++i) heap_.push_back({next_completion(senders_[i]), i});
    std::make_heap(heap_.begin(), heap_.end());
}

/// A unit that gets the message as the k-th, as a sender. By itself as good as any can be: with the best ones first,
/// and whole messages only, fewer might be complete at some time than with the best one second. All such units together
/// send no more bytes than with the best ones first.
void Growth::add_grown(std::size_t k, std::int64_t from_ns) {
    senders_.push_back(grown(0, from_ns));
    pooled_senders_.emplace_back(from_ns, grown(k, from_ns).bandwidth);
}

/// The earliest that all such units together can have sent one more message.
std::int64_t Growth::next_pooled() {
    const __int128 bytes = static_cast<__int128>(pooled_.num_sent + 1) * tree_->bytes() * 1'000'000'000;
    for (;;) {
        const std::int64_t time =
            pooled_.bandwidth == 0 ? never : static_cast<std::int64_t>((pooled_.before + bytes) / pooled_.bandwidth);
        if (pooled_.num_joined == pooled_senders_.size() || time <= pooled_senders_[pooled_.num_joined].first)
            return time;
        const auto [from, bandwidth] = pooled_senders_[pooled_.num_joined++];
        pooled_.bandwidth += bandwidth;
        pooled_.before += static_cast<__int128>(bandwidth) * from;
    }
}

/// When the next message of all is complete.
std::int64_t Growth::pop_completion() {
    for (;;) {
        const std::int64_t pooled_ns = pooled_.num_whole > pooled_.num_sent ? next_pooled() : never;
        if (!heap_.empty() && heap_.front().time_ns < pooled_ns) {
            std::pop_heap(heap_.begin(), heap_.end());
            Next& next = heap_.back();
            const std::int64_t time = next.time_ns;
            const bool is_grown = next.sender >= num_first_;
            ++senders_[next.sender].num_sent;
            next.time_ns = next_completion(senders_[next.sender]);
            std::push_heap(heap_.begin(), heap_.end());
            pooled_.last_ns = std::max(pooled_.last_ns, time);
            if (!is_grown) return time;
            ++pooled_.num_whole;
        } else {
            ++pooled_.num_sent;
            return std::max(pooled_.last_ns, pooled_ns);
        }
    }
}

/// As good as the k-th best can be.
Sender Growth::grown(std::size_t k, std::int64_t from_ns) const {
    const std::int64_t fastest = std::min(rates_[k], receivers_.best_in);
    const std::int64_t slowest = std::min(slowest_out_, receivers_.worst_in);
    const std::int64_t at_once = std::max<std::int64_t>(1, bandwidths_[k] / slowest);
    std::int64_t bandwidth = bandwidths_[k];
    // The k-th best bandwidth and the k-th best rate may be two units': only where all rates are the same is it sure
    // that what is left of a bandwidth is of no use.
    if (std::min(rates_[0], receivers_.best_in) == slowest) bandwidth = std::min(bandwidth, at_once * slowest);
    return {from_ns, from_ns, 0, bandwidth, tree_->time_of(fastest), at_once, rates_[k]};
}

std::int64_t Growth::each_by_itself() const {
    std::int64_t end = 0, first_arrival = never;
    for (const Sender& sender : senders_) first_arrival = std::min(first_arrival, next_completion(sender));
    first_arrival += receivers_.near_in_ns + receivers_.near_out_ns;
    std::int64_t arrival = 0, rate = 0, rate_between = 0, time = 0;
    for (const Unit* unit : missing_) {
        if (unit->best_in != rate) {
            rate = unit->best_in;
            arrival = first_arrival + tree_->time_of(rate);
            for (const Sender& sender : senders_) {
                if (sender.num_begun > 0) arrival = std::min(arrival, sender.from_ns);
                if (const std::int64_t between = std::min(sender.best_rate, rate); between != rate_between) {
                    rate_between = between;
                    time = tree_->time_of(between);
                }
                arrival = std::min({arrival, sender.from_ns + std::max(sender.least_ns, time), sender.late_ns + time});
            }
        }
        end = std::max(end, arrival + unit->near_in_ns + unit->tail_ns);
    }
    return end;
}

std::int64_t Growth::all_together(const Pausing& pausing) {
    const std::size_t count = missing_.size();
    bandwidths_.clear();
    rates_.clear();
    tails_.clear();
    arrivals_.clear();
    slowest_out_ = never;
    for (const Unit* unit : missing_) {
        bandwidths_.push_back(unit->out_bandwidth);
        rates_.push_back(unit->best_out);
        tails_.push_back(unit->tail_ns);
        slowest_out_ = std::min(slowest_out_, unit->worst_out);
    }
    std::sort(bandwidths_.begin(), bandwidths_.end(), std::greater<>{});
    std::sort(rates_.begin(), rates_.end(), std::greater<>{});
    std::sort(tails_.begin(), tails_.end(), std::greater<>{});
    start_heap();
    std::int64_t end = 0;
    for (;;) {
        const std::size_t k = arrivals_.size();
        const std::int64_t arrival = pop_completion() + receivers_.near_in_ns;
        arrivals_.push_back(arrival);
        end = std::max(end, arrival + tails_[k]);
        if (k + 1 == count) return end;
        add_grown(k, arrival + receivers_.near_out_ns);
        if (k == pausing.arrival) let_pause(senders_.back(), *pausing.unit, pausing.latest_ns);
        heap_.push_back({next_completion(senders_.back()), senders_.size() - 1});
        std::push_heap(heap_.begin(), heap_.end());
    }
}

/// After all_together(): when those in missing_ alone have arrived.
std::int64_t Growth::slow_ones(const Receivers& all) {
    tails_.clear();
    for (const Unit* unit : missing_) tails_.push_back(unit->tail_ns);
    std::sort(tails_.begin(), tails_.end(), std::greater<>{});
    begin_pool();
    for (std::size_t k = 0; k + 1 < arrivals_.size(); ++k) add_grown(k, arrivals_[k] + all.near_out_ns);
    fill_heap();
    std::int64_t end = 0;
    for (const std::int64_t tail : tails_) end = std::max(end, pop_completion() + receivers_.near_in_ns + tail);
    return end;
}

}  // namespace hocket::search
