// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/decisions.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "hocket/base/error.hpp"
#include "hocket/decision/plan_times.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/placement.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"
#include "selection/self_check.hpp"

namespace hocket::interpose {

using selection::SelfCheck;

Decisions& decisions = *new Decisions;

/// Where a rank is.
struct Seat {
    std::int64_t has_network;  ///< not 0: it could read the network
    std::int64_t host;         ///< in the network; -1: it has no such host
    std::int64_t machine;      ///< a hash. Hosts may be emulated: a machine is what was booted.
    std::int64_t cores;        ///< of the machine
};

namespace {

std::string machine_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

Seat own_seat(const Network* cluster) {
    std::string machine;
    if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine)) machine = machine_name();
    const auto host = cluster != nullptr ? network::find_host(*cluster, machine_name()) : std::nullopt;
    return {cluster != nullptr ? 1 : 0, host ? host->value : -1,
            static_cast<std::int64_t>(std::hash<std::string>{}(machine)), sysconf(_SC_NPROCESSORS_ONLN)};
}

/// Of each rank. Collective over the world.
std::vector<Seat> seats_of_all(const Seat& mine) {
    constexpr int num_values = sizeof(Seat) / sizeof(std::int64_t);
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    std::vector<Seat> found(static_cast<std::size_t>(world_size));
    next.Allgather(&mine, num_values, MPI_INT64_T, found.data(), num_values, MPI_INT64_T, MPI_COMM_WORLD);
    return found;
}

/// Cores that all ranks share, or 0 where each can have its own.
std::int32_t shared_cores(const std::vector<Seat>& seats) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> ranks_on;
    for (const Seat& one : seats) ++ranks_on[{one.machine, one.cores}];
    std::int64_t cores = 0;
    bool are_shared = false;
    for (const auto& [machine, ranks] : ranks_on) {
        cores += machine.second;
        are_shared = are_shared || ranks > machine.second;
    }
    return are_shared ? static_cast<std::int32_t>(cores) : 0;
}

void report_unknown_hosts(const std::vector<Seat>& seats, const std::string& source, int world_rank) {
    const auto unknown = std::count_if(seats.begin(), seats.end(), [](const Seat& one) { return one.host < 0; });
    if (world_rank != 0 || unknown == 0) return;
    log_line(std::to_string(unknown) + " of " + std::to_string(seats.size()) + " ranks are on hosts that " + source +
             " does not have" + (seats.front().host < 0 ? ", such as " + machine_name() : "") +
             ": collectives with them stay native; the file must name hosts as `hostname` does");
}

/// A standing for the next job, which goes on to wait where this one has ended.
std::int64_t left_to_next_job(const EntryCount& count) {
    const std::int64_t standing = count.standing;
    if (standing > SelfCheck::shown_faster) return standing;
    const std::int64_t wait = std::min(SelfCheck::shown_faster - standing, DecisionMemory::most_calls);
    const bool is_of_this_job = count.self_check > 0;
    return SelfCheck::shown_faster - (is_of_this_job ? wait : std::max<std::int64_t>(0, wait - count.rerouted));
}

}  // namespace

void Decisions::start(const std::string& text, const std::string& source, const std::string& mpi, int world_rank) {
    std::optional<Network> cluster;
    std::string why;
    try {
        cluster.emplace(network::from_text(text, source));
    } catch (const std::exception& error) {
        why = error.what();
    }
    const std::vector<Seat> seats = seats_of_all(own_seat(cluster ? &*cluster : nullptr));
    // A rank without memory for the network must not be alone without decisions.
    if (std::all_of(seats.begin(), seats.end(), [](const Seat& one) { return one.has_network != 0; })) {
        try {
            report_unknown_hosts(seats, source, world_rank);
            place(*cluster, seats, mpi);
            is_on_ = true;
            return;
        } catch (const InvalidInput& error) {  // on all ranks alike
            why = source + ": " + error.what();
        }
    }
    if (world_rank == 0)
        log_line((why.empty() ? source + ": a rank cannot read it" : why) +
                 "; every call that no plan serves stays native");
}

void Decisions::place(const Network& cluster, const std::vector<Seat>& seats, const std::string& mpi) {
    for (const Seat& one : seats) is_known_.push_back(one.host >= 0);
    // Those of unknown hosts sit anywhere, and are never asked for.
    const std::int64_t anywhere = std::max_element(seats.begin(), seats.end(), [](const Seat& a, const Seat& b) {
                                      return a.host < b.host;
                                  })->host;
    if (anywhere < 0) return;
    for (const Seat& one : seats) hosts_.emplace_back(static_cast<std::int32_t>(one.host >= 0 ? one.host : anywhere));
    network_.emplace(network::placed(cluster, hosts_));
    CostParameters costs = *CostModel::of(*network_);
    costs.cores = shared_cores(seats);
    costs_ = costs;
    mpi_ = mpi;
    decider_ = std::make_unique<decision::Decider>(*network_, costs_, mpi_);
}

void Decisions::learn(const Plan& plan) {
    if (!network_) return;
    network::Calibration calibration =
        network_->calibration() != nullptr ? *network_->calibration() : network::Calibration{};
    const auto is_measured = [&](const std::string& collective) {
        return std::any_of(
            calibration.natives.begin(), calibration.natives.end(),
            [&](const network::NativeTimes& one) { return one.mpi == mpi_ && one.collective == collective; });
    };
    std::vector<network::NativeTimes> learned = decision::times_of(plan, *network_, costs_, mpi_);
    std::erase_if(learned, [&](const network::NativeTimes& one) { return is_measured(one.collective); });
    if (learned.empty()) return;
    calibration.natives.insert(calibration.natives.end(), learned.begin(), learned.end());
    Network with_times = Network(*network_).calibrated(std::move(calibration));
    decider_.reset();
    network_.emplace(std::move(with_times));
    decider_ = std::make_unique<decision::Decider>(*network_, costs_, mpi_);
}

bool Decisions::knows(const std::vector<int>& members) const {
    return std::all_of(members.begin(), members.end(),
                       [&](int member) { return member >= 0 && is_known_[static_cast<std::size_t>(member)]; });
}

std::vector<bool> Decisions::ranks_on(const std::vector<std::string>& hosts) const {
    std::vector<bool> found;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
        found.push_back(network_ && is_known_[rank] && network::find_host(*network_, hosts[rank]) == hosts_[rank]);
    return found;
}

void Decisions::remember(const std::string& folder, const std::string& network, const std::string& plan) {
    if (folder.empty() || !network_) return;
    std::string circumstances = mpi_ + "\n" + std::to_string(costs_->cores) + "\n" + network;
    // What a plan tells of depends on where its ranks are.
    for (std::size_t rank = 0; !plan.empty() && rank < hosts_.size(); ++rank)
        circumstances += " " + std::to_string(hosts_[rank].value);
    memory_ = DecisionMemory(folder, circumstances + plan);
}

void Decisions::keep_found() {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, found] : found_) {
        if (!found.is_first) continue;
        std::vector<std::int64_t> standings;
        for (const Entry& entry : found.entries) standings.push_back(left_to_next_job(entry.count));
        memory_.keep_standings(key.first, found.nodes, standings, found.had_some);
    }
}

Decisions::Entries& Decisions::entries(CallKind kind, const std::vector<int>& members, bool is_first) {
    const std::lock_guard lock(mutex_);
    const double begin_s = thread_cpu_s();
    const std::vector<Rank> ranks(members.begin(), members.end());
    std::vector<NodeId> nodes;
    for (const Rank rank : ranks) nodes.push_back(network_->node_of(rank));
    const std::vector<PlanEntry>& decided = decide(server_of(kind), ranks, nodes, is_first);
    const auto [place, is_new] = found_.try_emplace({kind, &decided}, Found{std::move(nodes), is_first});
    Found& found = place->second;
    if (is_new) {
        for (const PlanEntry& entry : decided) found.entries.emplace_back(kind, &entry, false);
        // Of many ranks these would be decided anew in each job.
        if (found.nodes.size() < DecisionMemory::least_ranks)
            for (const PlanEntry& entry : decider_->contenders(server_of(kind), ranks))
                found.entries.emplace_back(kind, &entry, true);
    }
    if (is_new && is_first) {
        const std::vector<std::int64_t> standings = memory_.standings(kind, found.nodes, found.entries.size());
        for (std::size_t i = 0; i < standings.size(); ++i) {
            found.entries[i].count.standing = standings[i];
            found.had_some = found.had_some || standings[i] != SelfCheck::unknown;
        }
    }
    ++cost_.times;
    cost_.cpu_s += thread_cpu_s() - begin_s;
    return found.entries;
}

/// Few ranks are decided on anew in each job, which takes less time than to look whether an earlier one has.
const std::vector<PlanEntry>& Decisions::decide(Collective collective, const std::vector<Rank>& ranks,
                                                const std::vector<NodeId>& nodes, bool is_first) {
    if (nodes.size() < DecisionMemory::least_ranks) return decider_->entries(collective, ranks);
    const auto [place, is_new] = for_many_.try_emplace({collective, nodes});
    std::vector<PlanEntry>& found = place->second;
    if (!is_new) return found;
    if (auto remembered = memory_.decided(collective, nodes)) {
        found = *std::move(remembered);
        std::vector<std::int32_t> members;
        for (const Rank rank : ranks) members.push_back(rank.value);
        for (PlanEntry& entry : found) entry.members = members;
    } else {
        found = decider_->entries(collective, ranks);
        if (is_first) memory_.keep_decided(collective, nodes, found);
    }
    return found;
}

}  // namespace hocket::interpose
