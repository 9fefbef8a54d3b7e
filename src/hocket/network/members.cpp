// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/members.hpp"

#include <string>
#include <vector>

#include "hocket/base/error.hpp"

namespace hocket::network {

void check_members(const Network& network, std::span<const Rank> members, std::size_t most) {
    if (members.empty() || members.size() > most)
        throw InvalidInput("there are " + std::to_string(members.size()) + " members: expected 1 to " +
                           std::to_string(most));
    std::vector<bool> seen(static_cast<std::size_t>(network.num_ranks()), false);
    for (const Rank member : members) {
        if (member.value < 0 || member.value >= network.num_ranks())
            throw InvalidInput("member " + std::to_string(member.value) + " is not in the network: expected 0 to " +
                               std::to_string(network.num_ranks() - 1));
        if (seen[member.at()])
            throw InvalidInput("member " + std::to_string(member.value) + " comes twice: expected each once");
        seen[member.at()] = true;
    }
}

}  // namespace hocket::network
