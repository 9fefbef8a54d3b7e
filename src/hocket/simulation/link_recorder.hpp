// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/simulation/simulate.hpp"

namespace hocket::simulation {

/// Builds Timeline::link_use from changes of rate, in the order of time.
class LinkRecorder {
public:
    explicit LinkRecorder(std::size_t num_links) : links_(num_links), use_(num_links) {}

    /// A flow on the link changes from one rate to another; 0 = it is not there.
    void change(LinkId link, double now_s, double from_bytes_per_s, double to_bytes_per_s) {
        Load& load = links_[link.at()];
        close(link, now_s);
        load.flows += (to_bytes_per_s > 0 ? 1 : 0) - (from_bytes_per_s > 0 ? 1 : 0);
        // Without flows the sum is zero, whatever rounding has made of it.
        load.rate = load.flows == 0 ? 0 : load.rate + (to_bytes_per_s - from_bytes_per_s);
        load.since_s = now_s;
    }

    /// Until now.
    std::vector<std::vector<Timeline::LinkUse>> take(double now_s) {
        for (std::size_t l = 0; l < links_.size(); ++l) close(LinkId{static_cast<std::int32_t>(l)}, now_s);
        return std::move(use_);
    }

private:
    struct Load {
        double since_s = 0;
        double rate = 0;
        std::int32_t flows = 0;
    };

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

    std::vector<Load> links_;
    std::vector<std::vector<Timeline::LinkUse>> use_;
};

}  // namespace hocket::simulation
