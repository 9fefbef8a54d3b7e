// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/slow_links.hpp"

#include <algorithm>

#include "hocket/base/error.hpp"
#include "hocket/network/members.hpp"

namespace hocket::network {

namespace {

/// Of the routes to each position in the order from the one before.
template <class Measure>
std::vector<double> measured(const Network& network, std::span<const Rank> members, std::span<const Rank> order,
                             const Measure& measure) {
    check_members(network, members, order.size());
    std::vector<double> found;
    for (std::size_t v = 0; v < order.size(); ++v) {
        const Rank before = order[(v + order.size() - 1) % order.size()];
        if (!before.valid() || before.at() >= members.size())
            throw InvalidInput("the order names ranks that are not there");
        found.push_back(measure(network.route(members[before.at()], members[order[v].at()])));
    }
    return found;
}

template <class Far>
std::vector<std::int32_t> positions_of(const std::vector<double>& measured, const Far& is_far) {
    std::vector<std::int32_t> positions;
    for (std::size_t v = 0; v < measured.size(); ++v)
        if (is_far(measured[v])) positions.push_back(static_cast<std::int32_t>(v));
    if (positions.size() < 2 || positions.size() == measured.size()) return {};
    return positions;
}

}  // namespace

std::vector<std::int32_t> behind_slow_links(const Network& network, std::span<const Rank> members,
                                            std::span<const Rank> order) {
    const std::vector<double> s_per_byte = measured(network, members, order, [&](const auto& route) {
        double slowest = 0;
        for (const LinkId l : route) slowest = std::max(slowest, 1 / network.link(l).bandwidth_bytes_per_s);
        return slowest;
    });
    const double most = *std::max_element(s_per_byte.begin(), s_per_byte.end());
    return positions_of(s_per_byte, [&](double one) { return one >= 0.99 * most; });
}

std::vector<std::int32_t> behind_longer_routes(const Network& network, std::span<const Rank> members,
                                               std::span<const Rank> order) {
    const std::vector<double> links =
        measured(network, members, order, [](const auto& route) { return static_cast<double>(route.size()); });
    const double fewest = *std::min_element(links.begin(), links.end());
    return positions_of(links, [&](double one) { return one > fewest; });
}

}  // namespace hocket::network
