// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/record/traffic_recorder.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::simulation {

TrafficRecorder::TrafficRecorder(std::int32_t num_sources, std::int32_t num_links, LinkBinOptions bins,
                                 const MessageRecordOptions& messages)
    : is_recorded_(static_cast<std::size_t>(num_sources), false), most_messages_(messages.most_messages) {
    if (bins.num_bins != 0) bins_.emplace(num_links, std::move(bins));
    for (const Rank source : messages.sources) {
        if (source.value < 0 || source.value >= num_sources)
            throw InvalidInput("messages of rank " + std::to_string(source.value) + " cannot be recorded",
                               "accepted: ranks 0 to " + std::to_string(num_sources - 1));
        is_recorded_[source.at()] = true;
    }
}

void TrafficRecorder::begin(std::int32_t num_flows) {
    flows_.assign(static_cast<std::size_t>(num_flows), {});
    rows_.assign(flows_.size() * most_rows_, 0);
    first_of_part_ = messages_.size();
}

void TrafficRecorder::start(std::int32_t flow, Rank source, const Traffic::Message& message,
                            std::span<const LinkId> links, std::span<const double> delays_s, double now_s) {
    Flow& state = flows_[static_cast<std::size_t>(flow)];
    state.since_s = now_s;
    state.rate_bytes_per_s = 0;
    state.message = -1;
    if (bins_) set_rows(flow, links, delays_s);
    if (!is_recorded_[source.at()]) return;
    if (static_cast<std::int64_t>(messages_.size() - first_of_part_) >= most_messages_) {
        ++num_left_out_;
        return;
    }
    state.message = static_cast<std::int64_t>(messages_.size());
    messages_.push_back(
        {source.value, message.target.value, message.bytes, now_s, std::numeric_limits<double>::quiet_NaN()});
}

void TrafficRecorder::set_rows(std::int32_t flow, std::span<const LinkId> links, std::span<const double> delays_s) {
    bins_->find_rows(links, found_);
    if (!delays_s.empty()) {
        delays_s_.resize(flows_.size());
        std::vector<double>& own_s = delays_s_[static_cast<std::size_t>(flow)];
        own_s.clear();
        for (std::size_t i = 0; i < links.size(); ++i)
            if (bins_->is_recorded(links[i])) own_s.push_back(delays_s[i]);
    }
    if (found_.size() > most_rows_) {
        std::vector<std::int32_t> wider(flows_.size() * found_.size());
        for (std::size_t f = 0; f < flows_.size(); ++f)
            std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(f * most_rows_), flows_[f].num_rows,
                        wider.begin() + static_cast<std::ptrdiff_t>(f * found_.size()));
        rows_ = std::move(wider);
        most_rows_ = found_.size();
    }
    std::copy(found_.begin(), found_.end(),
              rows_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(flow) * most_rows_));
    flows_[static_cast<std::size_t>(flow)].num_rows = static_cast<std::int32_t>(found_.size());
}

void TrafficRecorder::pass_at_once(std::int32_t flow, double now_s, double bytes) {
    if (!bins_) return;
    for_delays(flow, [&](std::span<const std::int32_t> rows, double delay_s) {
        bins_->add_at_once(rows, now_s + delay_s, bytes);
    });
}

void TrafficRecorder::end(std::int32_t flow, double now_s, double arrival_s) {
    change_rate(flow, now_s, 0);
    const std::int64_t message = flows_[static_cast<std::size_t>(flow)].message;
    if (message >= 0) messages_[static_cast<std::size_t>(message)].end_s = arrival_s;
}

void TrafficRecorder::stop(double now_s) {
    for (std::size_t f = 0; f < flows_.size(); ++f) pass(static_cast<std::int32_t>(f), now_s);
    const auto earlier = [](const RecordedMessage& a, const RecordedMessage& b) { return a.start_s < b.start_s; };
    std::inplace_merge(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(first_of_part_),
                       messages_.end(), earlier);
    const auto too_many = static_cast<std::int64_t>(messages_.size()) - most_messages_;
    if (too_many <= 0) return;
    messages_.resize(static_cast<std::size_t>(most_messages_));
    num_left_out_ += too_many;
}

void TrafficRecorder::pass(std::int32_t flow, double now_s) {
    Flow& state = flows_[static_cast<std::size_t>(flow)];
    if (bins_ && state.rate_bytes_per_s > 0)
        for_delays(flow, [&](std::span<const std::int32_t> rows, double delay_s) {
            bins_->add(rows, state.since_s + delay_s, now_s + delay_s, state.rate_bytes_per_s);
        });
    state.since_s = now_s;
}

}  // namespace hocket::simulation
