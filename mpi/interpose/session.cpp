// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/session.hpp"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/json_text.hpp"
#include "hocket/plan/file.hpp"
#include "interpose/arguments.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/communicators.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/lane.hpp"
#include "interpose/say.hpp"
#include "runtime/datatype.hpp"
#include "selection/self_check.hpp"

namespace hocket::interpose {

using base::json_text;

Session& session = *new Session;
std::atomic<std::uint32_t> active_collectives{0};
std::atomic<bool> plan_is_in_background{false};

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void share(std::string& text) {
    long long length = static_cast<long long>(text.size());
    next.Bcast(&length, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    next.Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
}

Progress::Mode asked_progress() {
    const std::string mode = environment("HOCKET_PROGRESS");
    if (mode == "on") return Progress::Mode::on;
    if (mode == "auto") return Progress::Mode::automatic;
    if (!mode.empty() && mode != "off")
        say("HOCKET_PROGRESS is \"" + mode + "\"; accepted: off, on, auto; it stays off");
    return Progress::Mode::off;
}

int asked_core() {
    const std::string core = environment("HOCKET_PROGRESS_CORE");
    if (core == "idle") return runtime::idle_core;
    if (core.empty() || core == "any") return runtime::any_core;
    int number = 0;
    const auto [end, error] = std::from_chars(core.data(), core.data() + core.size(), number);
    if (error == std::errc{} && end == core.data() + core.size() && number >= 0) return number;
    say("HOCKET_PROGRESS_CORE is \"" + core + "\"; accepted: any, idle, the number of a core; it stays any");
    return runtime::any_core;
}

}  // namespace

bool wants_progress() {
    const std::string mode = environment("HOCKET_PROGRESS");
    return mode == "on" || mode == "auto";
}

void Session::share_settings(int world_rank) {
    enum : unsigned { tells = 1, reports = 2, checks_itself = 4, ignores_evidence = 8 };
    unsigned settings = 0;
    int progress_settings[2] = {};
    if (world_rank == 0) {
        plan_path_ = environment("HOCKET_PLAN");
        if (environment("HOCKET_VERBOSE") == "1" || environment("HOCKET_SUMMARY") == "1") settings |= tells | reports;
        if (!environment("HOCKET_STATISTICS").empty()) settings |= reports;
        const std::string check = environment("HOCKET_SELF_CHECK");
        if (check != "off") settings |= checks_itself;
        if (environment("HOCKET_EVIDENCE") == "off") settings |= ignores_evidence;
        if (!plan_path_.empty() && !check.empty() && check != "off" && check != "on")
            say("HOCKET_SELF_CHECK is \"" + check + "\"; accepted: on, off; it stays on");
        progress_settings[0] = static_cast<int>(asked_progress());
        progress_settings[1] = asked_core();
    }
    if (!plan_path_.empty()) {
        try {
            plan_text_ = read_plan_file(plan_path_);
        } catch (const InvalidInput& error) {
            say(std::string(error.what()) + "; every call stays native");
        }
    }
    share(plan_text_);
    next.Bcast(&settings, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    next.Bcast(progress_settings, 2, MPI_INT, 0, MPI_COMM_WORLD);
    progress_mode_ = static_cast<Progress::Mode>(progress_settings[0]);
    progress_core_ = progress_settings[1];
    tells_ = (settings & tells) != 0;
    reports_ = (settings & reports) != 0;
    checks_itself_ = (settings & checks_itself) != 0;
    ignores_evidence_ = (settings & ignores_evidence) != 0;
}

void Session::start(int program_level) {
    static std::atomic_flag started = ATOMIC_FLAG_INIT;
    if (started.test_and_set()) return;
    // A spawned program is another program: the plan was made for the one that the user started.
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return;

    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    share_settings(world_rank);
    if (!plan_text_.empty()) start_plan(world_rank);
    if (progress_mode_ != Progress::Mode::off) start_progress(world_rank, program_level);
}

void Session::start_plan(int world_rank) {
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    Plan plan;
    try {
        const std::string source = "plan " + plan_path_;
        Plan read = plan_from_json(plan_text_, source);
        require_ranks_of_program(read.ranks(), world_size, source);
        plan = std::move(read);
    } catch (const std::exception& error) {
        if (world_rank == 0) say(std::string(error.what()) + "; every call stays native");
    }
    compare_hosts(plan, world_rank);
    if (ignores_evidence_) {
        std::vector<PlanEntry> entries = plan.entries();
        for (PlanEntry& entry : entries) entry.evidence.reset();
        plan = Plan(plan.ranks(), plan.network(), std::move(entries));
    }
    plan_text_.clear();
    plan_text_.shrink_to_fit();
    use(std::move(plan));
}

void Session::compare_hosts(const Plan& plan, int world_rank) const {
    if (plan.hosts().empty()) return;
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    const int is_other = plan.hosts()[static_cast<std::size_t>(world_rank)] == host.data() ? 0 : 1;
    int num_others = 0;
    next.Reduce(&is_other, &num_others, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0 && num_others > 0)
        say(std::to_string(num_others) + " of " + std::to_string(plan.hosts().size()) +
            " ranks are on other hosts than when the plan was made; its schedules fit that placement: `hocket tune` "
            "again where hosts lie otherwise on the network");
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
        const auto start = [&](int core) { return progress.start(progress_mode_, core, program_level) ? 1 : 0; };
        try {
            can = start(progress_core_);
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
    if (num_can == num_ranks && !plan_.entries().empty()) {
        open_lane(MPI_COMM_WORLD);
        plan_is_in_background.store(true);
    }
    if (world_rank != 0) return;
    if (num_elsewhere > 0)
        say("HOCKET_PROGRESS_CORE: " +
            (why.empty() ? "core " + std::to_string(progress_core_) + " cannot be used" : why) + "; it stays any on " +
            std::to_string(num_elsewhere) + " of " + std::to_string(num_ranks) + " ranks");
    if (num_can == num_ranks) return;
    say("no progress in the background on " + std::to_string(num_ranks - num_can) + " of " + std::to_string(num_ranks) +
        " ranks: " +
        (num_below == 0 ? "no thread" : "no MPI_THREAD_MULTIPLE there: does every rank have HOCKET_PROGRESS?"));
}

void Session::use(Plan plan) {
    plan_ = std::move(plan);
    counts_ = std::make_unique<EntryCount[]>(plan_.entries().size());
    planned_ = 0;
    for (const auto& entry : plan_.entries()) planned_ |= 1U << static_cast<unsigned>(entry.collective);
    if (planned_ != 0) {
        prepare_communicators();
        has_communicators_ = true;
        prepare_arguments();
        prepare_world();
        if (reports_) served.count_calls();
    }
    constexpr std::uint32_t every = (1U << num_collectives) - 1;
    active_collectives.store(served.counts_calls() ? every : planned_, std::memory_order_release);
}

void Session::stop() {
    active_collectives.store(0, std::memory_order_release);
    plan_is_in_background.store(false);
    progress.stop();
    if (plan_.entries().empty() && progress_mode_ == Progress::Mode::off) return;
    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (reports_) report(world_rank);
    const Inside inside;
    if (has_communicators_) release_communicators();
    release_lanes();
    if (!plan_.entries().empty()) release_arguments();
    runtime::forget_datatypes();
}

void Session::tell_fall_back(std::size_t entry, std::int64_t call, int num_lost) const {
    if (!tells_) return;
    const EntryCount& count = counts_[entry];
    std::array<char, 160> why{};
    std::snprintf(why.data(), why.size(),
                  "slower than the MPI's own in %d comparisons in a row, %.3g ms to %.3g ms in the last", num_lost,
                  1e-6 * static_cast<double>(count.schedule_ns.load()),
                  1e-6 * static_cast<double>(count.native_ns.load()));
    say(describe(plan_.entries()[entry]) + ": " + why.data() + "; native from its call " + std::to_string(call) +
        " on");
}

std::string Session::report_entries(int world_rank) const {
    const std::size_t num = plan_.entries().size();
    struct Counts {
        long long rerouted, kept_native, self_check, after_fall_back, fell_back_at_call;
    };
    constexpr std::size_t numbers = sizeof(Counts) / sizeof(long long);
    std::vector<Counts> mine, most(num + 1);
    Counts all_of_mine{};  // summed before the maximum: entries may serve communicators that share no rank
    for (std::size_t i = 0; i < num; ++i) {
        const EntryCount& count = counts_[i];
        mine.push_back(
            {count.rerouted, count.kept_native, count.self_check, count.after_fall_back, count.fell_back_at_call});
        all_of_mine.rerouted += mine.back().rerouted;
    }
    mine.push_back(all_of_mine);
    // Rank 0 need not be a member of the communicators that an entry serves.
    next.Reduce(mine.data(), most.data(), static_cast<int>(numbers * mine.size()), MPI_LONG_LONG, MPI_MAX, 0,
                MPI_COMM_WORLD);
    if (world_rank != 0) return {};

    const long long rerouted = most.back().rerouted;
    std::string entries;
    long long used = 0;
    for (std::size_t i = 0; i < num; ++i) {
        const auto& entry = plan_.entries()[i];
        const Counts& count = most[i];
        const std::string fell_back =
            count.fell_back_at_call > 0 ? std::to_string(count.fell_back_at_call) : std::string("null");
        entries += std::string(i == 0 ? "" : ",") + "\n  {\"collective\": " + json_text(name_of(entry.collective)) +
                   ", \"description\": " + json_text(describe(entry)) +
                   ", \"rerouted_calls\": " + std::to_string(count.rerouted) +
                   ", \"native_calls\": " + std::to_string(count.kept_native) +
                   ", \"self_check_calls\": " + std::to_string(count.self_check) +
                   ", \"fell_back_at_call\": " + fell_back +
                   ", \"fallen_back_calls\": " + std::to_string(count.after_fall_back) + "}";
        used += count.rerouted > 0 ? 1 : 0;
        if (environment("HOCKET_VERBOSE") != "1") continue;
        std::string said = describe(entry) + ": " + std::to_string(count.rerouted) + " calls rerouted";
        const auto add = [&](long long calls, const char* what) {
            if (calls > 0) said += ", " + std::to_string(calls) + what;
        };
        add(count.kept_native, " left native for their operator");
        if (count.rerouted > 0 && count.self_check == 0) said += ", none compared with a native one";
        add(count.self_check, " native to compare their time");
        add(count.after_fall_back, " native after it was found slower");
        say(said);
    }
    if (environment("HOCKET_SUMMARY") == "1") {
        say(std::to_string(rerouted) + " collective call(s) of a rank rerouted, by " + std::to_string(used) + " of " +
            std::to_string(num) + " entries of the plan");
        if (rerouted == 0) say("no call was one that the plan is for: is it the plan of another program or input?");
    }
    return entries;
}

std::string Session::report_progress(int world_rank) const {
    struct Counts {
        long long calls, in_background;
    };
    std::vector<Counts> mine, sum(num_functions * num_size_classes);
    for (const auto& sizes : progress.counts())
        for (const auto& count : sizes) mine.push_back({count.calls, count.in_background});
    next.Reduce(mine.data(), sum.data(), static_cast<int>(2 * mine.size()), MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    double cpu_s = progress.thread_cpu_s(), most_cpu_s = 0;
    next.Reduce(&cpu_s, &most_cpu_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (world_rank != 0) return {};
    std::string calls;
    long long all = 0, in_background = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const Counts& count = sum[i];
        if (count.calls == 0) continue;
        all += count.calls;
        in_background += count.in_background;
        const std::string name = function_names[i / num_size_classes];
        const std::size_t size_class = i % num_size_classes;
        const long long bytes_min = size_class == 0 ? 0 : 1LL << (size_class - 1);
        calls += std::string(calls.empty() ? "" : ",") + "\n  {\"function\": " + json_text(name) +
                 ", \"bytes_min\": " + std::to_string(bytes_min) + ", \"calls\": " + std::to_string(count.calls) +
                 ", \"in_background\": " + std::to_string(count.in_background) + "}";
        if (environment("HOCKET_VERBOSE") == "1")
            say(name + " from " + std::to_string(bytes_min) + " B: " + std::to_string(count.in_background) + " of " +
                std::to_string(count.calls) + " calls in the background");
    }
    std::array<char, 64> cpu{};
    std::snprintf(cpu.data(), cpu.size(), "%.3g", most_cpu_s);
    if (environment("HOCKET_SUMMARY") == "1" || environment("HOCKET_VERBOSE") == "1")
        say(std::to_string(in_background) + " of " + std::to_string(all) +
            " non-blocking calls of all ranks in the background, by threads that used " + cpu.data() +
            " s of CPU time at most");
    return std::string(R"({"mode": )") + (progress_mode_ == Progress::Mode::on ? R"("on")" : R"("auto")") +
           R"(, "thread_cpu_s": )" + cpu.data() + R"(, "calls": [)" + calls + "\n]}";
}

void Session::report(int world_rank) const {
    std::string entries, background, calls;
    if (!plan_.entries().empty()) entries = report_entries(world_rank);
    if (served.counts_calls()) calls = served.report(world_rank, environment("HOCKET_SUMMARY") == "1");
    if (progress_mode_ != Progress::Mode::off) background = report_progress(world_rank);
    if (world_rank != 0) return;
    const std::string path = environment("HOCKET_STATISTICS");
    if (path.empty()) return;
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    std::ofstream file(path);
    file << "{\"format\": \"hocket.statistics/1\", \"plan\": " << (plan_path_.empty() ? "null" : json_text(plan_path_))
         << ", \"ranks\": " << world_size << ", \"entries\": [" << entries << "\n]";
    if (!calls.empty()) file << ", \"calls\": " << calls;
    if (!background.empty()) file << ", \"progress\": " << background;
    file << "}\n";
    file.close();
    if (!file) say(path + ": cannot write the statistics (" + std::strerror(errno) + ")");
}

}  // namespace hocket::interpose
