// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/traffic_recorder.hpp"

#include <limits>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::simulation {

TrafficRecorder::TrafficRecorder(std::int32_t num_sources, std::int32_t num_links, std::int32_t num_flows,
                                 LinkBinOptions bins, const MessageRecordOptions& messages)
    : flows_(static_cast<std::size_t>(num_flows)),
      is_recorded_(static_cast<std::size_t>(num_sources), false),
      most_messages_(messages.most_messages) {
    if (bins.num_bins != 0) bins_.emplace(num_links, std::move(bins));
    for (const Rank source : messages.sources) {
        if (source.value < 0 || source.value >= num_sources)
            throw InvalidInput("messages of rank " + std::to_string(source.value) + " cannot be recorded",
                               "accepted: ranks 0 to " + std::to_string(num_sources - 1));
        is_recorded_[source.at()] = true;
    }
}

void TrafficRecorder::start(std::int32_t flow, Rank source, const Traffic::Message& message,
                            std::span<const LinkId> links, double now_s) {
    Flow& state = flows_[static_cast<std::size_t>(flow)];
    state.since_s = now_s;
    state.rate_bytes_per_s = 0;
    state.message = -1;
    if (bins_) state.links.assign(links.begin(), links.end());
    if (!is_recorded_[source.at()]) return;
    if (static_cast<std::int64_t>(messages_.size()) >= most_messages_) {
        ++num_left_out_;
        return;
    }
    state.message = static_cast<std::int64_t>(messages_.size());
    messages_.push_back(
        {source.value, message.target.value, message.bytes, now_s, std::numeric_limits<double>::quiet_NaN()});
}

void TrafficRecorder::end(std::int32_t flow, double now_s, double arrival_s) {
    change_rate(flow, now_s, 0);
    const std::int64_t message = flows_[static_cast<std::size_t>(flow)].message;
    if (message >= 0) messages_[static_cast<std::size_t>(message)].end_s = arrival_s;
}

void TrafficRecorder::stop(double now_s) {
    for (std::size_t f = 0; f < flows_.size(); ++f) pass(static_cast<std::int32_t>(f), now_s);
}

void TrafficRecorder::pass(std::int32_t flow, double now_s) {
    Flow& state = flows_[static_cast<std::size_t>(flow)];
    if (bins_) bins_->add(state.links, state.since_s, now_s, state.rate_bytes_per_s);
    state.since_s = now_s;
}

}  // namespace hocket::simulation
