// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/statistics.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/json_writer.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/decisions.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/progress.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/settings.hpp"

namespace hocket::interpose {

using base::JsonWriter;

namespace {

struct Counts {
    long long rerouted = 0, kept_native = 0, self_check = 0, after_fall_back = 0, fell_back_at_call = 0;
};
constexpr std::size_t numbers = sizeof(Counts) / sizeof(long long);

Counts counts_of(const EntryCount& count) {
    return {count.rerouted, count.kept_native, count.self_check, count.after_fall_back, count.fell_back_at_call};
}

/// An entry as the rank that counted most saw it.
struct Row {
    std::string collective, description;
    Counts counts;
};

bool is_unused(const Counts& counts) {
    return counts.rerouted + counts.kept_native + counts.self_check + counts.after_fall_back == 0;
}

/// Of the plan's entries, on rank 0, and of those among them that have served blocks that differ. Collective over the
/// world.
std::vector<Row> planned_rows(int world_rank) {
    const auto& entries = plan_in_force.entries();
    std::vector<std::pair<CallKind, std::size_t>> served;
    for (std::size_t i = 0; i < entries.size(); ++i) served.emplace_back(kind_of(entries[i].collective), i);
    for (std::size_t i = 0; i < entries.size(); ++i)
        each_kind_served_by(entries[i].collective, [&](CallKind kind) {
            if (is_uneven(kind)) served.emplace_back(kind, i);
        });
    std::vector<Counts> mine, most(served.size());
    for (const auto& [kind, i] : served) mine.push_back(counts_of(entry_counts.of(kind, i)));
    // Rank 0 need not be a member of the communicators that an entry serves.
    next.Reduce(mine.data(), most.data(), static_cast<int>(numbers * mine.size()), MPI_LONG_LONG, MPI_MAX, 0,
                MPI_COMM_WORLD);
    std::vector<Row> rows;
    for (std::size_t row = 0; row < served.size() && world_rank == 0; ++row) {
        const auto [kind, i] = served[row];
        if (is_uneven(kind) && is_unused(most[row])) continue;
        rows.push_back({name_of(kind), describe(kind, entries[i]), most[row]});
    }
    return rows;
}

/// The texts of all ranks, one after another, on rank 0. Collective over the world.
std::string gathered(const std::string& mine, int world_rank) {
    int num_ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(num_ranks)), begins(lengths.size());
    next.Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
    std::string all(world_rank == 0 ? static_cast<std::size_t>(begins.back() + lengths.back()) : 0, ' ');
    next.Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    return all;
}

/// Of the decisions, which differ from rank to rank, on rank 0: those with one description are one. Collective over the
/// world.
std::vector<Row> decided_rows(int world_rank) {
    std::ostringstream mine;
    decisions.each([&](const Decisions::Entry& decided) {
        const Counts counts = counts_of(decided.count);
        if ((is_uneven(decided.kind) || decided.is_contender) && is_unused(counts)) return;
        mine << name_of(decided.kind) << '\t' << describe(decided.kind, *decided.entry) << '\t' << counts.rerouted
             << ' ' << counts.kept_native << ' ' << counts.self_check << ' ' << counts.after_fall_back << ' '
             << counts.fell_back_at_call << '\n';
    });
    std::istringstream all(gathered(mine.str(), world_rank));
    std::map<std::string, Row> rows;
    Row row;
    while (std::getline(all, row.collective, '\t') && std::getline(all, row.description, '\t')) {
        Counts& one = row.counts;
        all >> one.rerouted >> one.kept_native >> one.self_check >> one.after_fall_back >> one.fell_back_at_call >>
            std::ws;
        Counts& most = rows.try_emplace(row.description, Row{row.collective, row.description, {}}).first->second.counts;
        most = {std::max(most.rerouted, one.rerouted), std::max(most.kept_native, one.kept_native),
                std::max(most.self_check, one.self_check), std::max(most.after_fall_back, one.after_fall_back),
                std::max(most.fell_back_at_call, one.fell_back_at_call)};
    }
    std::vector<Row> found;
    for (const auto& [_, merged] : rows) found.push_back(merged);
    return found;
}

void log_row(const Row& row) {
    const Counts& count = row.counts;
    std::string line = row.description + ": " + std::to_string(count.rerouted) + " calls rerouted";
    const auto add = [&](long long calls, const char* what) {
        if (calls > 0) line += ", " + std::to_string(calls) + what;
    };
    add(count.kept_native, " left native for their operator");
    if (count.rerouted > 0 && count.self_check == 0) line += ", none compared with a native one";
    add(count.self_check, " native to compare their time");
    add(count.after_fall_back, " native after it was found slower");
    log_line(line);
}

/// The most calls that one rank had rerouted. Collective over the world; on rank 0.
long long most_rerouted() {
    long long mine = 0, most = 0;
    for (std::size_t i = 0; i < plan_in_force.entries().size(); ++i)
        each_kind_served_by(plan_in_force.entries()[i].collective,
                            [&](CallKind kind) { mine += entry_counts.of(kind, i).rerouted; });
    decisions.each([&](const Decisions::Entry& decided) { mine += decided.count.rerouted; });
    next.Reduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

struct Entries {
    std::string json;
    long long rerouted_calls = 0;
};

Entries report_entries(int world_rank) {
    std::vector<Row> rows = planned_rows(world_rank);
    if (decisions.is_on()) {
        const std::vector<Row> decided = decided_rows(world_rank);
        rows.insert(rows.end(), decided.begin(), decided.end());
    }
    const long long rerouted = most_rerouted();
    if (world_rank != 0) return {};

    JsonWriter entries;
    entries.begin_list(JsonWriter::Layout::lines);
    long long used = 0;
    for (const Row& row : rows) {
        const Counts& count = row.counts;
        entries.begin_object();
        entries.field("collective", row.collective);
        entries.field("description", row.description);
        entries.field("rerouted_calls", count.rerouted);
        entries.field("native_calls", count.kept_native);
        entries.field("self_check_calls", count.self_check);
        entries.field("fell_back_at_call",
                      count.fell_back_at_call > 0 ? std::optional(count.fell_back_at_call) : std::nullopt);
        entries.field("fallen_back_calls", count.after_fall_back);
        entries.end_object();
        used += count.rerouted > 0 ? 1 : 0;
        if (settings.logs_each) log_row(row);
    }
    if (settings.logs_summary) {
        log_line(std::to_string(rerouted) + " collective call(s) of a rank rerouted, by " + std::to_string(used) +
                 " of " + std::to_string(rows.size()) + " entries of the plan" +
                 (decisions.is_on() ? " and decisions for the network" : ""));
    }
    entries.end_list();
    return {entries.text(), rerouted};
}

/// What decisions for the network cost the rank for which they cost most. Collective over the world.
std::string report_decisions(int world_rank) {
    const Decisions::Cost cost = decisions.cost();
    const std::array<double, 2> mine{static_cast<double>(cost.times), cost.cpu_s};
    std::array<double, 2> most{};
    next.Reduce(mine.data(), most.data(), 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (world_rank != 0) return {};
    JsonWriter json;
    json.begin_object();
    json.field("decisions", std::llround(most[0]));
    json.field("cpu_s", most[1]);
    json.end_object();
    return json.text();
}

std::string report_progress(int world_rank) {
    struct Calls {
        long long calls, in_background;
    };
    std::vector<Calls> mine, sum(num_functions * num_size_classes);
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
        const Calls& count = sum[i];
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
    std::string of_decisions, of_progress;
    const bool has_entries = !plan_in_force.entries().empty() || decisions.is_on();
    Entries entries;
    if (has_entries) entries = report_entries(world_rank);
    Served::Report calls;
    if (served.counts_calls()) calls = served.report(world_rank, settings.logs_summary);
    // Of calls that no decision serves the reasons are told, each with its share.
    if (has_entries && world_rank == 0 && settings.logs_summary && entries.rerouted_calls == 0) {
        if (served.counts_calls() && calls.calls == 0)
            log_line("the program makes no blocking collective calls");
        else if (!decisions.is_on())
            log_line("no call was one that the plan is for: is it the plan of another program or input?");
    }
    if (decisions.is_on()) of_decisions = report_decisions(world_rank);
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
    if (!settings.network_path.empty()) json.field("network", settings.network_path);
    json.field("ranks", world_size);
    json.key("entries").raw(entries.json.empty() ? "[]" : entries.json);
    if (!calls.json.empty()) json.key("calls").raw(calls.json);
    if (!of_decisions.empty()) json.key("decided").raw(of_decisions);
    if (!of_progress.empty()) json.key("progress").raw(of_progress);
    json.end_object();
    file << json.text() << '\n';
    file.close();
    if (!file) log_line(path + ": cannot write the statistics (" + std::strerror(errno) + ")");
}

}  // namespace hocket::interpose
