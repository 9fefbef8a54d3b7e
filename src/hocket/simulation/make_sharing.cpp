// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/make_sharing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hocket/simulation/sharing/incremental.hpp"

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
    if (reference || !has_incremental(sharing, Bandwidths(bandwidths)))
        return make_reference(sharing, std::move(bandwidths), std::move(goes_on));
    return make_incremental(sharing, Bandwidths(bandwidths), has_delays);
}

}  // namespace hocket::simulation
