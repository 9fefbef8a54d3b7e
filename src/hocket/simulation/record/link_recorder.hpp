// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/simulation/events/rounded_time.hpp"
#include "hocket/simulation/timeline.hpp"

namespace hocket::simulation {

/// Builds Timeline::link_use from changes of rate, and Timeline::link_bursts.
class LinkRecorder {
public:
    /// `in_order`: the changes will come in the order of time.
    LinkRecorder(std::size_t num_links, bool in_order)
        : in_order_(in_order), links_(num_links), use_(num_links), bursts_(num_links) {}

    /// A flow on the link changes from one rate to another; 0 = it is not there.
    void change(LinkId link, double time_s, double from_bytes_per_s, double to_bytes_per_s) {
        const Change change{time_s, link, from_bytes_per_s, to_bytes_per_s};
        if (in_order_)
            apply(change);
        else
            changes_.push_back(change);
    }

    void pass_at_once(LinkId link, double time_s, double bytes) { bursts_[link.at()].push_back({time_s, bytes}); }

    /// Until now.
    void take(double now_s, Timeline& timeline) {
        std::stable_sort(changes_.begin(), changes_.end(),
                         [](const Change& a, const Change& b) { return a.time_s < b.time_s; });
        for (Change& change : changes_) {
            // Sums of other delays differ by rounding where one flow follows another.
            const double since_s = links_[change.link.at()].since_s;
            if (!(change.time_s > end_of_instant(since_s))) change.time_s = since_s;
            apply(change);
        }
        for (std::size_t l = 0; l < links_.size(); ++l) close(LinkId{static_cast<std::int32_t>(l)}, now_s);
        timeline.link_use = std::move(use_);
        for (std::vector<Timeline::LinkBurst>& bursts : bursts_)
            std::stable_sort(
                bursts.begin(), bursts.end(),
                [](const Timeline::LinkBurst& a, const Timeline::LinkBurst& b) { return a.time_s < b.time_s; });
        timeline.link_bursts = std::move(bursts_);
    }

private:
    struct Load {
        double since_s = 0;
        double rate = 0;
        std::int32_t flows = 0;
    };
    struct Change {
        double time_s;
        LinkId link;
        double from_bytes_per_s, to_bytes_per_s;
    };

    void apply(const Change& change) {
        Load& load = links_[change.link.at()];
        close(change.link, change.time_s);
        load.flows += (change.to_bytes_per_s > 0 ? 1 : 0) - (change.from_bytes_per_s > 0 ? 1 : 0);
        // Without flows the sum is zero, whatever rounding has made of it.
        load.rate = load.flows == 0 ? 0 : load.rate + (change.to_bytes_per_s - change.from_bytes_per_s);
        load.since_s = change.time_s;
    }

    void close(LinkId link, double now_s) {
        const Load& load = links_[link.at()];
        if (load.flows == 0 || now_s <= load.since_s) return;
        std::vector<Timeline::LinkUse>& use = use_[link.at()];
        const bool continues = !use.empty() && !(use.back().end_s < load.since_s) &&
                               !(use.back().rate_bytes_per_s < load.rate) && !(load.rate < use.back().rate_bytes_per_s);
        if (continues)
            use.back().end_s = now_s;
        else
            use.push_back({load.since_s, now_s, load.rate});
    }

    bool in_order_;
    std::vector<Change> changes_;  // if not
    std::vector<Load> links_;
    std::vector<std::vector<Timeline::LinkUse>> use_;
    std::vector<std::vector<Timeline::LinkBurst>> bursts_;  // of links to which delays differ, not in order
};

}  // namespace hocket::simulation
