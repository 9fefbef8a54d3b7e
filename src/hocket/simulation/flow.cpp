// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/flow.hpp"

#include <algorithm>
#include <limits>

#include "hocket/base/error.hpp"

namespace hocket::simulation {

std::vector<double> capacities_of(const Network& network, double share) {
    std::vector<double> bandwidths(static_cast<std::size_t>(network.num_capacities()),
                                   std::numeric_limits<double>::infinity());
    for (const Link& link : network.links())
        bandwidths[static_cast<std::size_t>(link.capacity)] = share * link.bandwidth_bytes_per_s;
    return bandwidths;
}

bool has_latencies(const Network& network) {
    return std::any_of(network.links().begin(), network.links().end(), [](const Link& l) { return l.latency_s > 0; });
}

std::unique_ptr<SharingModel> make_sharing(Sharing sharing, std::vector<double> bandwidths, bool reference,
                                           bool has_delays, GoesOn goes_on) {
    switch (sharing) {
        case Sharing::none:
            return make_unshared(std::move(bandwidths));
        case Sharing::equal:
            return reference ? make_reference_equal_sharing(std::move(bandwidths))
                             : make_equal_sharing(std::move(bandwidths));
        case Sharing::maxmin:
            return reference ? make_reference_maxmin_sharing(std::move(bandwidths), std::move(goes_on))
                             : make_maxmin_sharing(std::move(bandwidths));
        case Sharing::reserve:
            return reference ? make_reference_reserve_sharing(std::move(bandwidths))
                             : make_reserve_sharing(std::move(bandwidths), has_delays);
    }
    throw InvalidInput("sharing is not one of none, equal, maxmin, reserve");
}

void Crossings::touch(std::int32_t capacity) {
    if (is_touched_[static_cast<std::size_t>(capacity)]) return;
    is_touched_[static_cast<std::size_t>(capacity)] = true;
    touched_.push_back(capacity);
}

void Crossings::add(std::int32_t flow, std::span<const std::int32_t> capacities) {
    if (static_cast<std::size_t>(flow) >= capacities_.size()) capacities_.resize(static_cast<std::size_t>(flow) + 1);
    capacities_[static_cast<std::size_t>(flow)] = capacities;
    for (const std::int32_t capacity : capacities) {
        flows_on_[static_cast<std::size_t>(capacity)].push_back(flow);
        touch(capacity);
    }
}

void Crossings::remove(std::int32_t flow) {
    for (const std::int32_t capacity : capacities_[static_cast<std::size_t>(flow)]) {
        std::vector<std::int32_t>& flows = flows_on_[static_cast<std::size_t>(capacity)];
        // The search costs no more than re-rating the flows of the capacity, which follows.
        *std::find(flows.begin(), flows.end(), flow) = flows.back();
        flows.pop_back();
        touch(capacity);
    }
    capacities_[static_cast<std::size_t>(flow)] = {};
}

void Crossings::forget_touched() {
    for (const std::int32_t capacity : touched_) is_touched_[static_cast<std::size_t>(capacity)] = false;
    touched_.clear();
}

}  // namespace hocket::simulation
