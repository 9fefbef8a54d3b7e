// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hocket::simulation {

/// The bandwidth of each capacity, in bytes per second; without a table where all finite ones are alike, as they are in
/// most regular networks.
class Bandwidths {
public:
    /// `bandwidth_of(capacity)` is asked once or twice for each of 0 .. num_capacities - 1.
    template <class BandwidthOf>
    Bandwidths(std::int32_t num_capacities, BandwidthOf&& bandwidth_of) : num_capacities_(num_capacities) {
        for (std::int32_t c = 0; c < num_capacities; ++c) {
            const double bandwidth = bandwidth_of(c);
            if (!std::isfinite(bandwidth)) continue;
            if (!(largest_ > 0)) smallest_ = largest_ = bandwidth;
            smallest_ = std::min(smallest_, bandwidth);
            largest_ = std::max(largest_, bandwidth);
        }
        if (is_uniform()) return;
        table_.reserve(static_cast<std::size_t>(num_capacities));
        for (std::int32_t c = 0; c < num_capacities; ++c) table_.push_back(bandwidth_of(c));
    }
    explicit Bandwidths(const std::vector<double>& bandwidths)
        : Bandwidths(static_cast<std::int32_t>(bandwidths.size()),
                     [&](std::int32_t c) { return bandwidths[static_cast<std::size_t>(c)]; }) {}

    [[nodiscard]] std::int32_t size() const { return num_capacities_; }
    [[nodiscard]] bool is_uniform() const { return !(smallest_ < largest_); }
    [[nodiscard]] double smallest() const { return smallest_; }  ///< of the finite ones
    [[nodiscard]] double largest() const { return largest_; }
    /// Of a finite capacity.
    double operator[](std::int32_t capacity) const {
        return table_.empty() ? largest_ : table_[static_cast<std::size_t>(capacity)];
    }

private:
    std::int32_t num_capacities_;
    double smallest_ = 0, largest_ = 0;
    std::vector<double> table_;
};

}  // namespace hocket::simulation
