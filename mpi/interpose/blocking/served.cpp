// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/served.hpp"

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "hocket/base/json_writer.hpp"
#include "interpose/decisions.hpp"
#include "interpose/log.hpp"
#include "interpose/next.hpp"

namespace hocket::interpose {

Served& served = *new Served;

namespace {

// Two looks at the clock take some 50 ns: of calls shorter than this one in `sparse` is timed, so that it stays below 1
// %.
constexpr std::int64_t short_ns = 5'000;
constexpr std::uint64_t sparse = 32;

constexpr std::array<const char*, num_outcomes> names{
    "measured", "derived",   "collective", "communicator", "size",   "order",      "comparison",
    "slower",   "arguments", "predicted",  "placement",    "uneven", "no_schedule"};
constexpr std::array<const char*, num_outcomes> reasons{
    "",
    "",
    "collectives that the plan has no entry for",
    "communicators that the plan has no entry for",
    "sizes or roots that the plan has no entry for",
    "operators that need another order of operands",
    "compared with a schedule",
    "the schedule was found slower",
    "arguments that schedules do not serve",
    "no schedule is predicted to be faster on this network",
    "hosts that the network does not have",
    "blocks that differ too much from rank to rank",
    "hocket has no schedule for them",
};
struct Sum {
    double calls = 0, seconds = 0;
    Sum& operator+=(const Sum& other) {
        calls += other.calls;
        seconds += other.seconds;
        return *this;
    }
};

bool is_served(std::size_t outcome) { return static_cast<Outcome>(outcome) <= Outcome::derived; }

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

template <class... Numbers>
std::string text(const char* format, Numbers... numbers) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), format, numbers...);
    return line.data();
}

}  // namespace

void Served::timed(CallKind kind, Outcome outcome, std::int64_t duration_ns) {
    Tally& of = tally(kind, outcome);
    of.calls.fetch_add(1, std::memory_order_relaxed);
    of.timed_calls.fetch_add(1, std::memory_order_relaxed);
    of.timed_ns.fetch_add(duration_ns, std::memory_order_relaxed);
    // A long call among short ones has the next ones timed too.
    paces_[place_of(kind)].interval.store(duration_ns < short_ns ? sparse : 1, std::memory_order_relaxed);
}

Served::Report Served::report(int world_rank, bool logs) const {
    constexpr std::size_t num = num_kinds * num_outcomes;
    std::vector<double> mine, all(2 * num);
    for (const auto& of_kind : tallies_) {
        for (const Tally& of : of_kind) {
            const auto calls = static_cast<double>(of.calls), timed_calls = static_cast<double>(of.timed_calls);
            mine.push_back(calls);
            mine.push_back(timed_calls > 0 ? 1e-9 * static_cast<double>(of.timed_ns) * calls / timed_calls : 0);
        }
    }
    int num_ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    next.Reduce(mine.data(), all.data(), static_cast<int>(2 * num), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank != 0) return {};

    base::JsonWriter rows;
    rows.begin_list(base::JsonWriter::Layout::lines);
    Sum whole, by_plan, derived;
    std::array<Sum, num_outcomes> left{};
    std::array<std::string, num_outcomes> where{};
    for (std::size_t i = 0; i < num; ++i) {
        const std::size_t outcome = i % num_outcomes;
        const Sum sum{all[2 * i], all[2 * i + 1]};
        if (sum.calls == 0) continue;
        const std::string name = name_of(static_cast<CallKind>(i / num_outcomes));
        whole += sum;
        if (is_served(outcome)) by_plan += sum;
        if (static_cast<Outcome>(outcome) == Outcome::derived) derived += sum;
        left[outcome] += sum;
        where[outcome] += (where[outcome].empty() ? "" : ", ") + name;
        rows.begin_object();
        rows.field("collective", name);
        rows.field("outcome", names[outcome]);
        rows.field("calls", std::llround(sum.calls));
        rows.field("time_s", sum.seconds);
        rows.end_object();
    }
    rows.end_list();
    Report found{rows.text(), std::llround(whole.calls)};
    if (!logs || found.calls == 0) return found;
    log_line(
        text("%s served %.0f %% of the blocking collective calls and %.0f %% of their time: %.3g of %.3g s of a "
             "rank on average",
             decisions.is_on() ? "hocket" : "the plan", percent(by_plan.calls, whole.calls),
             percent(by_plan.seconds, whole.seconds), by_plan.seconds / num_ranks, whole.seconds / num_ranks));
    if (derived.calls > 0 && !decisions.is_on())
        log_line(text("%.0f %% of the calls served have sizes or roots for which the plan was derived, not measured",
                      percent(derived.calls, by_plan.calls)));
    for (std::size_t outcome = 0; outcome < num_outcomes; ++outcome) {
        const Sum& of = left[outcome];
        if (is_served(outcome) || of.calls == 0) continue;
        const double each_s = of.seconds / num_ranks;
        log_line(text("left native: %.0f %% of the calls, ", percent(of.calls, whole.calls)) +
                 (each_s < 0.001 ? "less than 1 ms" : text("%.3g s", each_s)) + ": " + reasons[outcome] + " (" +
                 where[outcome] + ")");
    }
    return found;
}

}  // namespace hocket::interpose
