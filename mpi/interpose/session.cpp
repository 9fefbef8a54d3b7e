// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/session.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/json_text.hpp"
#include "interpose/arguments.hpp"
#include "interpose/communicators.hpp"
#include "interpose/next.hpp"
#include "runtime/datatype.hpp"

namespace hocket::interpose {

using base::json_text;

Session& session = *new Session;
std::atomic<std::uint32_t> active_collectives{0};

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void say(const std::string& line) { std::fprintf(stderr, "hocket: %s\n", line.c_str()); }

void share(std::string& text) {
    long long length = static_cast<long long>(text.size());
    next.Bcast(&length, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    next.Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
}

}  // namespace

void Session::share_settings(int world_rank) {
    int reports = 0;
    if (world_rank == 0) {
        plan_path_ = environment("HOCKET_PLAN");
        const bool tells = environment("HOCKET_VERBOSE") == "1" || environment("HOCKET_SUMMARY") == "1";
        reports = tells || !environment("HOCKET_STATISTICS").empty() ? 1 : 0;
    }
    if (!plan_path_.empty()) {
        try {
            plan_text_ = runtime::read_plan_file(plan_path_);
        } catch (const InvalidInput& error) {
            say(std::string(error.what()) + "; every call stays native");
        }
    }
    share(plan_text_);
    next.Bcast(&reports, 1, MPI_INT, 0, MPI_COMM_WORLD);
    reports_ = reports != 0;
}

void Session::start() {
    static std::atomic_flag started = ATOMIC_FLAG_INIT;
    if (started.test_and_set()) return;
    // A spawned program is another program: the plan was made for the one that the user started.
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return;

    int world_rank = 0, world_size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    share_settings(world_rank);
    if (plan_text_.empty()) return;
    try {
        plan_ = runtime::parse_plan(plan_text_, "plan " + plan_path_);
        if (plan_.num_ranks != world_size) {
            throw InvalidInput("plan " + plan_path_ + " is for " + std::to_string(plan_.num_ranks) +
                               " ranks, this program has " + std::to_string(world_size));
        }
    } catch (const std::exception& error) {
        plan_ = {};
        if (world_rank == 0) say(std::string(error.what()) + "; every call stays native");
    }
    plan_text_.clear();
    plan_text_.shrink_to_fit();
    counts_ = std::make_unique<EntryCount[]>(plan_.entries.size());
    std::uint32_t active = 0;
    for (const auto& entry : plan_.entries) active |= 1U << static_cast<unsigned>(entry.collective);
    if (active != 0) {
        prepare_communicators();
        prepare_arguments();
    }
    active_collectives.store(active, std::memory_order_release);
}

void Session::stop() {
    active_collectives.store(0, std::memory_order_release);
    if (plan_.entries.empty()) return;
    if (reports_) report();
    release_communicators();
    release_arguments();
    runtime::forget_datatypes();
}

void Session::report() const {
    const std::size_t num = plan_.entries.size();
    std::vector<long long> mine, most(2 * num);
    for (std::size_t i = 0; i < num; ++i) {
        mine.push_back(counts_[i].rerouted.load());
        mine.push_back(counts_[i].kept_native.load());
    }
    // Rank 0 need not be a member of the communicators that an entry serves.
    next.Reduce(mine.data(), most.data(), static_cast<int>(2 * num), MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (world_rank != 0) return;

    std::string entries;
    long long rerouted = 0, used = 0;
    for (std::size_t i = 0; i < num; ++i) {
        const auto& entry = plan_.entries[i];
        entries += std::string(i == 0 ? "" : ",") + "\n  {\"collective\": " + json_text(name_of(entry.collective)) +
                   ", \"description\": " + json_text(entry.description()) +
                   ", \"rerouted_calls\": " + std::to_string(most[2 * i]) +
                   ", \"native_calls\": " + std::to_string(most[2 * i + 1]) + "}";
        rerouted += most[2 * i];
        used += most[2 * i] > 0 ? 1 : 0;
        if (environment("HOCKET_VERBOSE") != "1") continue;
        const std::string native =
            most[2 * i + 1] > 0 ? ", " + std::to_string(most[2 * i + 1]) + " left native for their operator" : "";
        say(entry.description() + ": " + std::to_string(most[2 * i]) + " calls rerouted" + native);
    }
    if (environment("HOCKET_SUMMARY") == "1") {
        say(std::to_string(rerouted) + " collective call(s) rerouted, by " + std::to_string(used) + " of " +
            std::to_string(num) + " entries of the plan");
        if (rerouted == 0) say("no call was one that the plan is for: is it the plan of another program or input?");
    }
    const std::string path = environment("HOCKET_STATISTICS");
    if (path.empty()) return;
    std::ofstream file(path);
    file << "{\"format\": \"hocket.statistics/1\", \"plan\": " << json_text(plan_path_)
         << ", \"ranks\": " << plan_.num_ranks << ", \"entries\": [" << entries << "\n]}\n";
    file.close();
    if (!file) say(path + ": cannot write the statistics (" + std::strerror(errno) + ")");
}

}  // namespace hocket::interpose
