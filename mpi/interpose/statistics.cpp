// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/statistics.hpp"

#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "hocket/base/json_writer.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/progress.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/settings.hpp"

namespace hocket::interpose {

using base::JsonWriter;

namespace {

std::string report_entries(int world_rank) {
    const std::size_t num = plan_in_force.entries().size();
    struct Counts {
        long long rerouted, kept_native, self_check, after_fall_back, fell_back_at_call;
    };
    constexpr std::size_t numbers = sizeof(Counts) / sizeof(long long);
    std::vector<Counts> mine, most(num + 1);
    Counts all_of_mine{};  // summed before the maximum: entries may serve communicators that share no rank
    for (std::size_t i = 0; i < num; ++i) {
        const EntryCount& count = entry_counts[i];
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
    JsonWriter entries;
    entries.begin_list(JsonWriter::Layout::lines);
    long long used = 0;
    for (std::size_t i = 0; i < num; ++i) {
        const auto& entry = plan_in_force.entries()[i];
        const Counts& count = most[i];
        entries.begin_object();
        entries.field("collective", name_of(entry.collective));
        entries.field("description", describe(entry));
        entries.field("rerouted_calls", count.rerouted);
        entries.field("native_calls", count.kept_native);
        entries.field("self_check_calls", count.self_check);
        entries.field("fell_back_at_call",
                      count.fell_back_at_call > 0 ? std::optional(count.fell_back_at_call) : std::nullopt);
        entries.field("fallen_back_calls", count.after_fall_back);
        entries.end_object();
        used += count.rerouted > 0 ? 1 : 0;
        if (!settings.logs_each) continue;
        std::string line = describe(entry) + ": " + std::to_string(count.rerouted) + " calls rerouted";
        const auto add = [&](long long calls, const char* what) {
            if (calls > 0) line += ", " + std::to_string(calls) + what;
        };
        add(count.kept_native, " left native for their operator");
        if (count.rerouted > 0 && count.self_check == 0) line += ", none compared with a native one";
        add(count.self_check, " native to compare their time");
        add(count.after_fall_back, " native after it was found slower");
        log_line(line);
    }
    if (settings.logs_summary) {
        log_line(std::to_string(rerouted) + " collective call(s) of a rank rerouted, by " + std::to_string(used) +
                 " of " + std::to_string(num) + " entries of the plan");
        if (rerouted == 0)
            log_line("no call was one that the plan is for: is it the plan of another program or input?");
    }
    entries.end_list();
    return entries.text();
}

std::string report_progress(int world_rank) {
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
    JsonWriter json;
    json.begin_object();
    json.field("mode", settings.progress == ProgressMode::on ? "on" : "auto");
    json.field("thread_cpu_s", most_cpu_s);
    json.key("calls").begin_list(JsonWriter::Layout::lines);
    long long all = 0, in_background = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const Counts& count = sum[i];
        if (count.calls == 0) continue;
        all += count.calls;
        in_background += count.in_background;
        const std::string name = function_names[i / num_size_classes];
        const std::size_t size_class = i % num_size_classes;
        const long long bytes_min = size_class == 0 ? 0 : 1LL << (size_class - 1);
        json.begin_object();
        json.field("function", name);
        json.field("bytes_min", bytes_min);
        json.field("calls", count.calls);
        json.field("in_background", count.in_background);
        json.end_object();
        if (settings.logs_each)
            log_line(name + " from " + std::to_string(bytes_min) + " B: " + std::to_string(count.in_background) +
                     " of " + std::to_string(count.calls) + " calls in the background");
    }
    std::array<char, 64> cpu{};
    std::snprintf(cpu.data(), cpu.size(), "%.3g", most_cpu_s);
    if (settings.logs)
        log_line(std::to_string(in_background) + " of " + std::to_string(all) +
                 " non-blocking calls of all ranks in the background, by threads that used " + cpu.data() +
                 " s of CPU time at most");
    json.end_list();
    json.end_object();
    return json.text();
}

}  // namespace

void report_statistics(int world_rank) {
    std::string entries, calls, of_progress;
    if (!plan_in_force.entries().empty()) entries = report_entries(world_rank);
    if (served.counts_calls()) calls = served.report(world_rank, settings.logs_summary);
    if (settings.progress != ProgressMode::off) of_progress = report_progress(world_rank);
    if (world_rank != 0) return;
    const std::string& path = settings.statistics_path;
    if (path.empty()) return;
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    std::ofstream file(path);
    JsonWriter json;
    json.begin_object();
    json.field("format", "hocket.statistics/1");
    json.field("plan", settings.plan_path.empty() ? std::nullopt : std::optional(settings.plan_path));
    json.field("ranks", world_size);
    json.key("entries").raw(entries.empty() ? "[]" : entries);
    if (!calls.empty()) json.key("calls").raw(calls);
    if (!of_progress.empty()) json.key("progress").raw(of_progress);
    json.end_object();
    file << json.text() << '\n';
    file.close();
    if (!file) log_line(path + ": cannot write the statistics (" + std::strerror(errno) + ")");
}

}  // namespace hocket::interpose
