// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/decisions.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>

#include "hocket/network/file.hpp"
#include "hocket/network/placement.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"

namespace hocket::interpose {

Decisions& decisions = *new Decisions;

void Decisions::start(const std::string& text, const std::string& source, int world_rank) {
    std::optional<Network> cluster;
    std::string why;
    try {
        cluster.emplace(network::from_text(text, source));
    } catch (const std::exception& error) {
        why = error.what();
    }
    // A rank without memory for the network must not be alone without decisions.
    const int failed = why.empty() ? 0 : 1;
    int any_failed = 0;
    next.Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any_failed == 0) return place(*cluster, source, world_rank);
    if (world_rank == 0)
        log_line((why.empty() ? source + ": a rank cannot read it" : why) +
                 "; every call that no plan serves stays native");
}

void Decisions::place(const Network& cluster, const std::string& source, int world_rank) {
    std::array<char, 256> machine{};
    gethostname(machine.data(), machine.size() - 1);
    const auto host = network::find_host(cluster, machine.data());
    const std::int32_t mine = host ? host->value : -1;
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    std::vector<std::int32_t> found(static_cast<std::size_t>(world_size));
    next.Allgather(&mine, 1, MPI_INT32_T, found.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);

    is_on_ = true;
    const auto num_known = world_size - std::count(found.begin(), found.end(), -1);
    if (world_rank == 0 && num_known < world_size)
        log_line(std::to_string(world_size - num_known) + " of " + std::to_string(world_size) +
                 " ranks are on hosts that " + source + " does not have" +
                 (mine < 0 ? ", such as " + std::string(machine.data()) : "") +
                 ": collectives with them stay native; the file must name hosts as `hostname` does");
    for (const std::int32_t node : found) is_known_.push_back(node >= 0);
    if (num_known == 0) return;
    // Those of unknown hosts sit anywhere, and are never asked for.
    const std::int32_t anywhere = *std::max_element(found.begin(), found.end());
    for (const std::int32_t node : found) hosts_.emplace_back(node >= 0 ? node : anywhere);
    network_.emplace(network::placed(cluster, hosts_));
    decider_ = std::make_unique<decision::Decider>(*network_, CostModel::of(*network_));
}

bool Decisions::knows(const std::vector<int>& members) const {
    return std::all_of(members.begin(), members.end(),
                       [&](int member) { return member >= 0 && is_known_[static_cast<std::size_t>(member)]; });
}

bool Decisions::are_on(const std::vector<std::int32_t>& members, const std::vector<std::string>& hosts) const {
    return network_ && knows(members) && std::all_of(members.begin(), members.end(), [&](std::int32_t member) {
               const auto rank = static_cast<std::size_t>(member);
               return network::find_host(*network_, hosts[rank]) == hosts_[rank];
           });
}

Decisions::Entries& Decisions::entries(Collective collective, const std::vector<int>& members) {
    const std::lock_guard lock(mutex_);
    const std::vector<Rank> ranks(members.begin(), members.end());
    const std::vector<PlanEntry>& decided = decider_->entries(collective, ranks);
    const auto [place, is_new] = found_.try_emplace(&decided);
    if (is_new)
        for (const PlanEntry& entry : decided) place->second.emplace_back(&entry);
    return place->second;
}

}  // namespace hocket::interpose
