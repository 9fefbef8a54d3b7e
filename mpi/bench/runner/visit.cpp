// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/visit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "common/clock.hpp"
#include "common/mpi_calls.hpp"

namespace hocket::bench {

namespace {

constexpr int readings = 10000;
// A sample is 500 steps of the clock at least, of as many runs as that takes: the first reading after a barrier finds
// cold caches on a busy machine, which cost an empty pattern 0.9 us, 45 steps (MPICH 4.0), and ranks leave a barrier
// one after another.
constexpr double sample_steps = 500;
constexpr int trial_runs = 16;
constexpr int trials = 5;                 // of which the least counts: it decides what a sample is, disturbed or not
constexpr double enough_trials_ns = 5e6;  // a run that takes so long is no short one that was disturbed
constexpr int least_samples = 3;

std::int64_t timed(Pattern& pattern, const Team& team, int runs, int* late = nullptr) {
    const Arrival arrival = pattern.arrival();
    const std::int64_t begin_ns = team.start_together();
    while (arrival.own_ns > 0 && now_ns() - begin_ns < arrival.own_ns) {
    }
    for (int i = 0; i < runs; ++i) pattern.run();
    const std::int64_t took_ns = now_ns() - begin_ns;
    if (!team.end(took_ns) && late != nullptr) ++*late;
    return took_ns - arrival.last_ns;
}

double slowest(double own, const Team& team) {
    double most = 0;
    require(PMPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, team.control), "MPI_Allreduce");
    return most;
}

}  // namespace

Timer Timer::calibrate() {
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    const std::int64_t begin = now_ns();
    std::int64_t last = begin;
    for (int i = 0; i < readings; ++i) {
        const std::int64_t now = now_ns();
        if (now > last) step = std::min(step, now - last);
        last = now;
    }
    return {static_cast<double>(step), static_cast<double>(last - begin) / readings};
}

/// What fails on one rank fails on all.
template <class Function>
void Visitor::together(const Team& team, const Function& function) const {
    std::optional<Failure> failure;
    try {
        function();
    } catch (const Failure& error) {
        failure = error;
    } catch (const std::exception& error) {
        failure = Failure(Status::error, error.what());
    }
    team.agree(failure, alone_);
}

void Visitor::probe(const Point& point, const Team& team) {
    Extent none;
    none.samples = 0;
    visit(point, team, none, 0, 1);
}

int Visitor::runs_of_sample(Pattern& pattern, const Team& team) const {
    const auto least_ns = [&](int runs) {
        double least = std::numeric_limits<double>::max(), spent = 0;
        for (int i = 0; i < trials && spent < enough_trials_ns; ++i) {
            pattern.before();
            watchdog_.alive();
            const double took = slowest(static_cast<double>(timed(pattern, team, runs)), team);
            least = std::min(least, took / runs);
            spent += took;
        }
        return least;
    };
    const double sample_ns = slowest(sample_steps * timer_.step_ns, team);  // ranks may have found different steps
    double run_ns = least_ns(1);
    if (run_ns < sample_ns) run_ns = std::min(run_ns, least_ns(trial_runs));
    // A power of two: the more runs follow each other, the less each takes, so visits should have as many.
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(sample_ns / std::max(run_ns, 1.0)))));
}

Chunk Visitor::visit(const Point& point, const Team& team, const Extent& most, double limit_s, std::uint64_t seed) {
    const int samples = most.samples;
    const double begin_s = now_s();
    Chunk chunk;
    Pattern* pattern = nullptr;  // lost where its MPI call fails: to free it might wait for ever
    const auto check = [&](std::uint64_t of) {
        together(team, [&] {
            if (pattern == nullptr) {
                pattern = point.item->make({team.pattern, team.rank, team.ranks, point.bytes, point.options, folder_})
                              .release();
            }
            pattern->prepare(of);
            pattern->before();
            watchdog_.alive();
            const std::int64_t took_ns = timed(*pattern, team, 1);
            if (chunk.first_ns == 0) chunk.first_ns = took_ns;
            pattern->verify();
        });
    };
    const auto finish = [&] {
        together(team, [&] { pattern->finish(); });
        delete pattern;
    };
    try {
        check(seed);
        if (samples > 0) {
            together(team, [&] {
                pattern->before();
                watchdog_.alive();
                timed(*pattern, team, 1);
                if (point.item->batched && pattern->arrival().last_ns == 0) {
                    chunk.runs = std::max(most.runs, runs_of_sample(*pattern, team));
                }
                const double measure_s = now_s();
                int wanted = std::min(samples, least_samples);
                chunk.samples_ns.resize(static_cast<std::size_t>(wanted));
                for (int i = 0; i < wanted; ++i) {
                    pattern->before();
                    watchdog_.alive();
                    chunk.samples_ns[static_cast<std::size_t>(i)] = timed(*pattern, team, chunk.runs, &chunk.late);
                    if (i + 1 != least_samples) continue;
                    // What the ranks do next they must know together; once, since to ask costs time.
                    const double each_s = slowest(now_s() - measure_s, team) / least_samples;
                    const double left_s = slowest(begin_s + limit_s - now_s(), team);
                    wanted = std::clamp(static_cast<int>(std::min(left_s / each_s, 1e6)) + wanted, wanted, samples);
                    chunk.samples_ns.resize(static_cast<std::size_t>(wanted));
                }
            });
            check(seed + 1);
        }
    } catch (const Failure& failure) {
        if (failure.status == Status::wrong_data) finish();
        throw;
    }
    std::int64_t moved = pattern->bytes_moved();
    chunk.operations = pattern->operations();
    chunk.parts = pattern->parts();
    finish();
    if (samples == 0) return chunk;
    auto own = chunk.samples_ns;
    require(PMPI_Reduce(own.data(), chunk.samples_ns.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_MAX, 0,
                        team.control),
            "MPI_Reduce");
    require(PMPI_Reduce(&moved, &chunk.bytes_moved, 1, MPI_INT64_T, MPI_SUM, 0, team.control), "MPI_Reduce");
    for (Part& part : chunk.parts) part.ns = slowest(part.ns, team);
    chunk.first_ns = static_cast<std::int64_t>(slowest(static_cast<double>(chunk.first_ns), team));
    chunk.took_s = now_s() - begin_s;
    return chunk;
}

}  // namespace hocket::bench
