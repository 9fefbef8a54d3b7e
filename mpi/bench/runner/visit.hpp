// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/runner/plan.hpp"
#include "bench/runner/team.hpp"
#include "bench/runner/watchdog.hpp"

namespace hocket::bench {

/// Of the clock that measures.
struct Timer {
    double step_ns;      ///< the least difference of two readings
    double overhead_ns;  ///< of one reading
    static Timer calibrate();
};

/// The chunk of samples of one visit. On rank 0.
struct Chunk {
    std::vector<std::int64_t> samples_ns;  ///< each until the slowest rank was done, of `runs` runs
    int runs = 1;
    std::int64_t first_ns = 0;     ///< the first run after the set-up
    double took_s = 0;             ///< all of the visit
    std::int64_t bytes_moved = 0;  ///< by all ranks together in a run
    int operations = 1;
    int late = 0;             ///< samples for whose agreed start a rank was late
    std::vector<Part> parts;  ///< each of the rank where it is largest
};

/// How a point is run on its team.
class Visitor {
public:
    Visitor(const Watchdog& watchdog, std::function<void(const Failure&)> alone, std::string folder)
        : watchdog_(watchdog), alone_(std::move(alone)), folder_(std::move(folder)), timer_(Timer::calibrate()) {}

    /// One run, whose data are checked. @throws Failure  the same on all ranks of the team
    void probe(const Point& point, const Team& team);
    /// A checked run, a warm one, samples, a checked run. At most `most.samples`; as many as `limit_s` has room for, or
    /// 3. @throws Failure  the same on all ranks of the team
    Chunk visit(const Point& point, const Team& team, const Extent& most, double limit_s, std::uint64_t seed);

    [[nodiscard]] const Timer& timer() const { return timer_; }

private:
    template <class Function>
    void together(const Team& team, const Function& function) const;
    int runs_of_sample(Pattern& pattern, const Team& team) const;

    const Watchdog& watchdog_;
    std::function<void(const Failure&)> alone_;
    std::string folder_;
    Timer timer_;
};

}  // namespace hocket::bench
