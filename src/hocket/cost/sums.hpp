// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hocket::cost {

/// Sums by place, of which few are touched before they are cleared.
class Sums {
public:
    explicit Sums(std::size_t places) : sums_(places, 0) {}
    void add(std::size_t place, double value) {
        if (sums_[place] == 0) touched_.push_back(place);
        sums_[place] += value;
        largest_ = std::max(largest_, sums_[place]);
    }
    [[nodiscard]] double largest() const { return largest_; }
    /// Of both at one place.
    friend double largest_sum(const Sums& a, const Sums& b) {
        double largest = 0;
        for (std::size_t i = 0; i < a.sums_.size(); ++i) largest = std::max(largest, a.sums_[i] + b.sums_[i]);
        return largest;
    }
    void clear() {
        for (const std::size_t place : touched_) sums_[place] = 0;
        touched_.clear();
        largest_ = 0;
    }

private:
    std::vector<double> sums_;
    std::vector<std::size_t> touched_;
    double largest_ = 0;
};

/// What each link of a network carries in a round, and in all. A large network has many links, of which one
/// communicator uses few: those who look at many share the room.
struct LinkSums {
    explicit LinkSums(std::size_t num_capacities) : in_round(num_capacities), in_all(num_capacities) {}
    Sums in_round, in_all;
};

}  // namespace hocket::cost
