// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/slow_links.hpp"

#include <algorithm>

#include "hocket/base/error.hpp"
#include "hocket/network/members.hpp"

namespace hocket::network {

std::vector<std::int32_t> behind_slow_links(const Network& network, std::span<const Rank> members,
                                            std::span<const Rank> order) {
    check_members(network, members, order.size());
    std::vector<double> s_per_byte;
    for (std::size_t v = 0; v < order.size(); ++v) {
        const Rank before = order[(v + order.size() - 1) % order.size()];
        if (!before.valid() || before.at() >= members.size())
            throw InvalidInput("the order names ranks that are not there");
        double slowest = 0;
        for (const LinkId l : network.route(members[before.at()], members[order[v].at()]))
            slowest = std::max(slowest, 1 / network.link(l).bandwidth_bytes_per_s);
        s_per_byte.push_back(slowest);
    }
    const double most = *std::max_element(s_per_byte.begin(), s_per_byte.end());
    std::vector<std::int32_t> positions;
    for (std::size_t v = 0; v < order.size(); ++v)
        if (s_per_byte[v] >= 0.99 * most) positions.push_back(static_cast<std::int32_t>(v));
    if (positions.size() < 2 || positions.size() == order.size()) return {};
    return positions;
}

}  // namespace hocket::network
