// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/fabric.hpp"

namespace hocket::simulation {

/// The capacities of routes: what a fabric would answer, without a call for each link where links are regular.
class Paths {
public:
    explicit Paths(const network::Fabric& fabric) : fabric_(fabric) {
        const std::int32_t n = fabric.num_links();
        latency_s_ = n > 0 ? fabric.latency_s(LinkId{0}) : 0;
        for (std::int32_t l = 0; l < n; ++l) {
            own_capacities_ = own_capacities_ && fabric.capacity_of(LinkId{l}) == l;
            alike_latencies_ = alike_latencies_ && !(fabric.latency_s(LinkId{l}) != latency_s_);
        }
        for (std::int32_t c = 0; c < fabric.num_capacities(); ++c)
            all_finite_ = all_finite_ && std::isfinite(fabric.bandwidth_bytes_per_s(c));
    }

    /// Of a part of the network, which numbers capacities anew.
    Paths(const Paths& whole, const std::int32_t* numbers) : Paths(whole) { numbers_ = numbers; }

    /// The finite capacities from `a` to `b`; valid until the next call.
    std::span<const std::int32_t> find(Rank a, Rank b) {
        fabric_.route(a, b, links_);
        capacities_.clear();
        for (const LinkId l : links_) {
            const std::int32_t c = capacity_of(l);
            if (all_finite_ || std::isfinite(fabric_.bandwidth_bytes_per_s(c)))
                capacities_.push_back(numbers_ == nullptr ? c : numbers_[c]);
        }
        return capacities_;
    }
    /// Its number in the whole network.
    [[nodiscard]] std::int32_t capacity_of(LinkId l) const {
        return own_capacities_ ? l.value : fabric_.capacity_of(l);
    }
    /// Of the route found last.
    [[nodiscard]] std::span<const LinkId> links() const { return links_; }
    [[nodiscard]] double latency_s() const {
        if (alike_latencies_) return latency_s_ * static_cast<double>(links_.size());
        double sum_s = 0;
        for (const LinkId l : links_) sum_s += fabric_.latency_s(l);
        return sum_s;
    }
    /// From the start of a message on the route found last to its first byte on a link, that link's latency included.
    struct Delays {
        std::vector<double> of_links_s;
        std::vector<double> of_capacities_s;  ///< of the finite ones, as find() returns them
    };
    void find_delays(Delays& delays) const {
        delays.of_links_s.clear();
        delays.of_capacities_s.clear();
        double sum_s = 0;
        for (const LinkId l : links_) {
            delays.of_links_s.push_back(sum_s += fabric_.latency_s(l));
            if (all_finite_ || std::isfinite(fabric_.bandwidth_bytes_per_s(fabric_.capacity_of(l))))
                delays.of_capacities_s.push_back(sum_s);
        }
    }
    [[nodiscard]] bool without_latency() const { return alike_latencies_ && !(latency_s_ > 0); }

private:
    const network::Fabric& fabric_;
    const std::int32_t* numbers_ = nullptr;
    bool own_capacities_ = true, alike_latencies_ = true, all_finite_ = true;
    double latency_s_ = 0;
    std::vector<LinkId> links_;
    std::vector<std::int32_t> capacities_;
};

}  // namespace hocket::simulation
