// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/simulation/events/rounded_time.hpp"
#include "hocket/simulation/sharing/bandwidths.hpp"

namespace hocket::simulation {

/// Bandwidths as integers, so that what is reserved and freed adds up to nothing.
class BandwidthUnits {
public:
    explicit BandwidthUnits(Bandwidths bandwidths) : bandwidths_(std::move(bandwidths)) {}

    [[nodiscard]] std::int32_t num_capacities() const { return bandwidths_.size(); }
    /// What a flow on these capacities reserves [Hourai].
    [[nodiscard]] double least_bandwidth(std::span<const std::int32_t> path) const {
        double least = bandwidths_.largest();
        if (bandwidths_.is_uniform()) return least;
        for (const std::int32_t c : path) least = std::min(least, bandwidths_[c]);
        return least;
    }
    [[nodiscard]] std::int64_t units_of(double bandwidth) const {
        constexpr double full = static_cast<double>(std::int64_t{1} << 60U);
        return std::max(static_cast<std::int64_t>(bandwidth / bandwidths_.largest() * full), std::int64_t{1});
    }
    /// The most that can be reserved of a capacity: what fits exactly, fits.
    [[nodiscard]] std::int64_t room(std::int32_t capacity) const {
        const std::int64_t units = units_of(bandwidths_[capacity]);
        return units + (units >> 40U);
    }

private:
    Bandwidths bandwidths_;
};

/// How much of one capacity is reserved from when on: a step function of time, 0 after its last step. Times that
/// end_of_instant() takes for one are one.
class ReservedBandwidth {
public:
    /// The earliest time from `from_s` on after which no more than `most` is reserved for `duration_s`.
    [[nodiscard]] double earliest(double from_s, double duration_s, std::int64_t most) const {
        double start_s = from_s;
        for (auto step = last_before(from_s); step != steps_.end(); ++step) {
            if (!(start_s + duration_s > end_of_instant(step->from_s))) break;
            if (step->units > most) start_s = std::max(start_s, std::next(step)->from_s);
        }
        return start_s;
    }
    /// Reserves `units` between the times, both >= `now_s`. What was before now is forgotten.
    void reserve(double start_s, double end_s, std::int64_t units, double now_s) {
        auto kept = steps_.begin();
        while (steps_.end() - kept > 1 && !(std::next(kept)->from_s > now_s)) ++kept;
        steps_.erase(steps_.begin(), kept);
        const std::ptrdiff_t first = cut(start_s);
        for (std::ptrdiff_t i = first, last = cut(end_s); i < last; ++i)
            steps_[static_cast<std::size_t>(i)].units += units;
    }

private:
    struct Step {
        double from_s;
        std::int64_t units;
    };
    using Steps = std::vector<Step>;

    /// The step at this time, or the first if that comes later.
    [[nodiscard]] Steps::const_iterator last_before(double time_s) const {
        const auto after = std::upper_bound(steps_.begin(), steps_.end(), end_of_instant(time_s),
                                            [](double time, const Step& step) { return time < step.from_s; });
        return after == steps_.begin() ? after : std::prev(after);
    }
    /// Makes a step begin at this time; returns its place.
    std::ptrdiff_t cut(double time_s) {
        const auto at = last_before(time_s);
        const std::ptrdiff_t place = at - steps_.begin();
        if (at == steps_.end() || at->from_s > end_of_instant(time_s)) {
            steps_.insert(at, {time_s, 0});
            return place;
        }
        if (!(time_s > end_of_instant(at->from_s))) return place;
        steps_.insert(std::next(at), {time_s, at->units});
        return place + 1;
    }

    Steps steps_;  // in the order of time; the last has 0 units
};

}  // namespace hocket::simulation
