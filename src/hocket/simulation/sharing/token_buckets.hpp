// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/cost/cost_model.hpp"
#include "hocket/network/network.hpp"

namespace hocket::simulation {

/// A token bucket for each capacity: what its link has saved up while no flow held it passes at once. See tc-tbf(8).
class TokenBuckets {
public:
    /// All are full at time 0.
    TokenBuckets(const Network& network, const CostParameters& costs)
        : buckets_(static_cast<std::size_t>(network.num_capacities())) {
        for (const Link& link : network.links()) {
            if (!std::isfinite(link.bandwidth_bytes_per_s)) continue;
            const double most_bytes = std::max(costs.burst_bytes, costs.burst_s * link.bandwidth_bytes_per_s);
            const double rate = costs.link_efficiency * link.bandwidth_bytes_per_s;
            buckets_[static_cast<std::size_t>(link.capacity)] = {most_bytes, rate, most_bytes, 0, 0};
        }
    }

    /// How many of `bytes` pass all these capacities at once; takes as much from each.
    double take(std::span<const std::int32_t> capacities, double bytes, double now_s) {
        for (const std::int32_t c : capacities) {
            Bucket& bucket = at(c);
            if (bucket.num_flows == 0) {
                bucket.saved_bytes =
                    std::min(bucket.most_bytes, bucket.saved_bytes + (now_s - bucket.since_s) * bucket.bytes_per_s);
                bucket.since_s = now_s;
            }
            bytes = std::min(bytes, bucket.saved_bytes);
        }
        for (const std::int32_t c : capacities) at(c).saved_bytes -= bytes;
        return bytes;
    }
    /// A flow begins on these, for which take() was called.
    void hold(std::span<const std::int32_t> capacities) {
        for (const std::int32_t c : capacities) ++at(c).num_flows;
    }
    /// It has ended.
    void release(std::span<const std::int32_t> capacities, double now_s) {
        for (const std::int32_t c : capacities)
            if (--at(c).num_flows == 0) at(c).since_s = now_s;
    }

private:
    struct Bucket {
        double most_bytes, bytes_per_s;
        double saved_bytes;  // at since_s
        double since_s;      // no flow since
        std::int32_t num_flows;
    };
    Bucket& at(std::int32_t capacity) { return buckets_[static_cast<std::size_t>(capacity)]; }

    std::vector<Bucket> buckets_;
};

}  // namespace hocket::simulation
