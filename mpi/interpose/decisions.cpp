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

#include "hocket/base/error.hpp"
#include "hocket/decision/plan_times.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/placement.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"

namespace hocket::interpose {

Decisions& decisions = *new Decisions;

namespace {

std::string machine_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// Cores that all ranks share, or 0 where each can have its own. Hosts may be emulated: a machine is what was booted.
/// Collective over the world.
std::int32_t shared_cores(int world_size) {
    std::string machine;
    if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine)) machine = machine_name();
    const std::array<std::uint64_t, 2> mine{std::hash<std::string>{}(machine),
                                            static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN))};
    std::vector<std::array<std::uint64_t, 2>> found(static_cast<std::size_t>(world_size));
    next.Allgather(mine.data(), 2, MPI_UINT64_T, found.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD);
    std::map<std::array<std::uint64_t, 2>, std::uint64_t> ranks_on;
    for (const auto& one : found) ++ranks_on[one];
    std::uint64_t cores = 0;
    bool are_shared = false;
    for (const auto& [one, ranks] : ranks_on) {
        cores += one[1];
        are_shared = are_shared || ranks > one[1];
    }
    return are_shared ? static_cast<std::int32_t>(cores) : 0;
}

/// As network files name it: "Open MPI 4.1.4", "MPICH 5.0.2". That of rank 0, for all ranks decide alike also where
/// their libraries differ. Collective over the world.
std::string mpi_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    next.Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    const std::string version = text.data();
    constexpr std::array<std::pair<const char*, const char*>, 3> families{
        {{"Open MPI v", "Open MPI "}, {"MPICH Version:", "MPICH "}, {"Intel(R) MPI Library ", "Intel MPI "}}};
    for (const auto& [title, name] : families) {
        const std::size_t at = version.find(title);
        if (at == std::string::npos) continue;
        const std::size_t begin = version.find_first_of("0123456789", at);
        if (begin == std::string::npos) break;
        return name + version.substr(begin, version.find_first_of(", \t\n", begin) - begin);
    }
    return {};
}

}  // namespace

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
    if (any_failed == 0) {
        try {
            return place(*cluster, source, world_rank);
        } catch (const InvalidInput& error) {  // on all ranks alike
            why = source + ": " + error.what();
            is_on_ = false;
        }
    }
    if (world_rank == 0)
        log_line((why.empty() ? source + ": a rank cannot read it" : why) +
                 "; every call that no plan serves stays native");
}

void Decisions::place(const Network& cluster, const std::string& source, int world_rank) {
    const std::string machine = machine_name();
    const auto host = network::find_host(cluster, machine);
    const std::int32_t mine = host ? host->value : -1;
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    std::vector<std::int32_t> found(static_cast<std::size_t>(world_size));
    next.Allgather(&mine, 1, MPI_INT32_T, found.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);

    is_on_ = true;
    const auto num_known = world_size - std::count(found.begin(), found.end(), -1);
    if (world_rank == 0 && num_known < world_size)
        log_line(std::to_string(world_size - num_known) + " of " + std::to_string(world_size) +
                 " ranks are on hosts that " + source + " does not have" + (mine < 0 ? ", such as " + machine : "") +
                 ": collectives with them stay native; the file must name hosts as `hostname` does");
    for (const std::int32_t node : found) is_known_.push_back(node >= 0);
    if (num_known == 0) return;
    // Those of unknown hosts sit anywhere, and are never asked for.
    const std::int32_t anywhere = *std::max_element(found.begin(), found.end());
    for (const std::int32_t node : found) hosts_.emplace_back(node >= 0 ? node : anywhere);
    network_.emplace(network::placed(cluster, hosts_));
    CostParameters costs = *CostModel::of(*network_);
    costs.cores = shared_cores(world_size);
    costs_ = costs;
    mpi_ = mpi_name();
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
