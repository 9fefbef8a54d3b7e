// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <optional>
#include <span>

#include "hocket/network/network.hpp"
#include "hocket/simulation/options.hpp"
#include "hocket/simulation/record/link_bins.hpp"
#include "hocket/simulation/record/link_recorder.hpp"
#include "hocket/simulation/timeline.hpp"

namespace hocket::simulation {

/// Records what the flows of a Program put on links, in the forms that are asked for.
class FlowRecorder {
public:
    /// `has_windows`: bytes pass a link the latencies up to it later than they leave.
    FlowRecorder(const Network& network, const SimulationOptions& options, bool has_windows)
        : network_(network), has_windows_(has_windows) {
        if (options.record_links) use_.emplace(network.links().size(), !has_windows);
        if (options.link_bins.num_bins != 0)
            bins_.emplace(static_cast<std::int32_t>(network.links().size()), options.link_bins);
    }

    /// A flow on these links had a rate since a time, and has another from now on; 0 = it is not there.
    void change(std::span<const LinkId> links, double since_s, double now_s, double from_bytes_per_s,
                double to_bytes_per_s) {
        count(links, since_s, now_s, from_bytes_per_s);
        if (!use_) return;
        for_delays(links, [&](LinkId l, double delay_s) {
            use_->change(l, now_s + delay_s, from_bytes_per_s, to_bytes_per_s);
        });
    }
    /// Bytes without a transfer time.
    void pass_at_once(std::span<const LinkId> links, double now_s, double bytes) {
        if (!(bytes > 0) || (!bins_ && !use_)) return;
        for_delays(links, [&](LinkId l, double delay_s) {
            if (bins_) bins_->add_at_once(std::span(&l, 1), now_s + delay_s, bytes);
            if (use_) use_->pass_at_once(l, now_s + delay_s, bytes);
        });
    }
    /// What a flow has put on these links since its rate last changed.
    void count(std::span<const LinkId> links, double since_s, double now_s, double rate_bytes_per_s) {
        if (!bins_) return;
        if (!has_windows_) return bins_->add(links, since_s, now_s, rate_bytes_per_s);
        for_delays(links, [&](LinkId l, double delay_s) {
            bins_->add(std::span(&l, 1), since_s + delay_s, now_s + delay_s, rate_bytes_per_s);
        });
    }
    void take(double now_s, Timeline& timeline) {
        if (bins_) timeline.link_bins = bins_->take();
        if (use_) use_->take(now_s, timeline);
    }

private:
    /// `visit(link, how much later than they leave bytes pass there)`
    void for_delays(std::span<const LinkId> links, const auto& visit) const {
        double delay_s = 0;
        for (const LinkId l : links) visit(l, has_windows_ ? delay_s += network_.link(l).latency_s : 0.0);
    }

    const Network& network_;
    bool has_windows_;
    std::optional<LinkRecorder> use_;
    std::optional<LinkBinRecorder> bins_;
};

}  // namespace hocket::simulation
