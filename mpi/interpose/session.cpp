// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/session.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "common/launched.h"
#include "hocket/base/error.hpp"
#include "hocket/plan/file.hpp"
#include "interpose/arguments.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/communicators.hpp"
#include "interpose/decisions.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/inside.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/collective_queue.hpp"
#include "interpose/nonblocking/planned_calls.hpp"
#include "interpose/nonblocking/progress.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/settings.hpp"
#include "interpose/statistics.hpp"
#include "runtime/datatype.hpp"

namespace hocket::interpose {

Session& session = *new Session;

namespace {

void compare_hosts(const Plan& plan, int world_rank) {
    if (plan.hosts().empty() || plan.entries().empty()) return;
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    const int is_other = plan.hosts()[static_cast<std::size_t>(world_rank)] == host.data() ? 0 : 1;
    int num_others = 0;
    next.Reduce(&is_other, &num_others, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0 && num_others > 0)
        log_line(
            std::to_string(num_others) + " of " + std::to_string(plan.hosts().size()) +
            " ranks are on other hosts than when the plan was made; its schedules fit that placement: `hocket tune` "
            "again where hosts lie otherwise on the network");
}

/// Without what was measured on other hosts than those that the ranks are on now: decisions for these are better.
Plan measured_here(const Plan& plan, int world_rank) {
    if (plan.hosts().empty()) return plan;
    const std::vector<bool> is_there = decisions.ranks_on(plan.hosts());
    const auto are_there = [&](const std::vector<std::int32_t>& members) {
        return std::all_of(members.begin(), members.end(),
                           [&](std::int32_t member) { return is_there[static_cast<std::size_t>(member)]; });
    };
    std::vector<PlanEntry> kept;
    for (const PlanEntry& entry : plan.entries()) {
        std::vector<std::vector<std::int32_t>> communicators{entry.members};
        communicators.insert(communicators.end(), entry.other_members.begin(), entry.other_members.end());
        std::erase_if(communicators, [&](const auto& members) { return !are_there(members); });
        if (communicators.empty()) continue;
        kept.push_back(entry);
        kept.back().members = communicators.front();
        kept.back().other_members.assign(communicators.begin() + 1, communicators.end());
    }
    if (world_rank == 0 && kept.size() < plan.entries().size())
        log_line(std::to_string(plan.entries().size() - kept.size()) + " of " + std::to_string(plan.entries().size()) +
                 " entries of the plan were made for other hosts than those of their ranks now; the network decides "
                 "there instead");
    return {plan.ranks(), plan.network(), std::move(kept), plan.created_by(), plan.progress(), plan.hosts()};
}

/// Without entries if there is no text, or it is not that of a plan for this program.
Plan read_plan(const std::string& text, int world_rank) {
    if (text.empty()) return {};
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    try {
        const std::string source = "plan " + settings.plan_path;
        Plan read = plan_from_json(text, source);
        require_ranks_of_program(read.ranks(), world_size, source);
        return read;
    } catch (const std::exception& error) {
        if (world_rank == 0)
            log_line(std::string(error.what()) +
                     (decisions.is_on() ? "; it serves no call" : "; every call stays native"));
    }
    return {};
}

/// Natively nothing would tell: each process runs as a program of one rank.
void report_if_alone() {
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    const hocket_alone alone = hocket_find_alone(world_size);
    if (alone.launcher == nullptr || !alone.is_first) return;
    log_line(std::string(alone.launcher) + " has started " + std::to_string(alone.processes) +
             " processes, and each is alone in its MPI_COMM_WORLD: the launcher is not of this MPI");
    log_line(HOCKET_ALONE_HINT);
}

std::atomic_flag has_started = ATOMIC_FLAG_INIT, has_reported = ATOMIC_FLAG_INIT;

bool serves_calls() { return !plan_in_force.entries().empty() || decisions.is_on(); }

}  // namespace

void Session::start(int program_level) {
    if (has_started.test_and_set()) return;
    // A spawned program is another program: the plan was made for the one that the user started.
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return;

    report_if_alone();
    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    settings = read_settings(world_rank);
    const std::string plan_text = std::exchange(settings.plan_text, {});
    const std::string network_text = std::exchange(settings.network_text, {});
    if (!network_text.empty())
        decisions.start(network_text, "network " + settings.network_path, settings.mpi, world_rank);
    if (!plan_text.empty() || decisions.is_on()) start_plan(world_rank, plan_text);
    decisions.remember(settings.decisions_path, network_text, plan_text);
    if (settings.progress != ProgressMode::off) start_progress(world_rank, program_level);
}

void Session::report_without_world(int world_rank) {
    if (world_rank != 0 || !asks_for_anything() || has_started.test() || has_reported.test_and_set()) return;
    log_line("the program starts MPI by MPI_Session_init; hocket does nothing until it calls MPI_Init");
}

void Session::start_plan(int world_rank, const std::string& text) {
    Plan plan = read_plan(text, world_rank);
    if (decisions.is_on()) {
        decisions.learn(plan);
        plan = measured_here(plan, world_rank);
    } else {
        compare_hosts(plan, world_rank);
    }
    if (settings.ignores_evidence) {
        std::vector<PlanEntry> entries = plan.entries();
        for (PlanEntry& entry : entries) entry.evidence.reset();
        plan = Plan(plan.ranks(), plan.network(), std::move(entries));
    }
    use(std::move(plan));
}

void Session::start_progress(int world_rank, int program_level) {
    int level = MPI_THREAD_SINGLE;
    next.Query_thread(&level);
    // The environment of a rank may lack what rank 0 has; then its MPI has the program's thread level.
    int can = level == MPI_THREAD_MULTIPLE ? 1 : 0, num_ranks = 0;
    std::string why;
    if (can != 0) {
        if (!has_communicators_) prepare_communicators();
        has_communicators_ = true;
        const auto start = [&](int core) { return progress.start(settings.progress, core, program_level) ? 1 : 0; };
        try {
            can = start(settings.progress_core);
        } catch (const InvalidInput& error) {
            why = error.what();
            can = start(runtime::any_core);
        }
    }
    const int mine[3] = {can, why.empty() ? 0 : 1, level == MPI_THREAD_MULTIPLE ? 0 : 1};
    int sum[3] = {};
    next.Allreduce(mine, sum, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    const auto [num_can, num_elsewhere, num_below] = sum;
    if (num_can == num_ranks && serves_calls()) {
        open_queue(MPI_COMM_WORLD);
        plan_is_in_background.store(true);
    }
    if (world_rank != 0) return;
    if (num_elsewhere > 0)
        log_line("HOCKET_PROGRESS_CORE: " +
                 (why.empty() ? "core " + std::to_string(settings.progress_core) + " cannot be used" : why) +
                 "; it stays any on " + std::to_string(num_elsewhere) + " of " + std::to_string(num_ranks) + " ranks");
    if (num_can == num_ranks) return;
    log_line("no progress in the background on " + std::to_string(num_ranks - num_can) + " of " +
             std::to_string(num_ranks) + " ranks: " +
             (num_below == 0 ? "no thread" : "no MPI_THREAD_MULTIPLE there: does every rank have HOCKET_PROGRESS?"));
}

void Session::use(Plan plan) {
    plan_in_force.set(std::move(plan));
    entry_counts.reset(plan_in_force.entries().size());
    if (serves_calls()) {
        prepare_communicators();
        has_communicators_ = true;
        prepare_arguments();
        prepare_world();
        if (settings.reports) served.count_calls();
    }
    constexpr std::uint32_t every = (1U << num_collectives) - 1;
    active_collectives.store(served.counts_calls() || decisions.is_on() ? every : plan_in_force.planned(),
                             std::memory_order_release);
}

void Session::stop() {
    active_collectives.store(0, std::memory_order_release);
    plan_is_in_background.store(false);
    progress.stop();
    if (!serves_calls() && settings.progress == ProgressMode::off) return;
    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (settings.reports) report_statistics(world_rank);
    decisions.keep_found();
    const Inside inside;
    if (has_communicators_) release_communicators();
    release_queues();
    if (serves_calls()) release_arguments();
    runtime::forget_datatypes();
}

}  // namespace hocket::interpose
