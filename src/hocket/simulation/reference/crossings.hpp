// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::simulation {

/// Which flows cross which capacity, and which capacities were touched since the last update: what the reference
/// models have in common.
class Crossings {
public:
    explicit Crossings(std::size_t num_capacities) : flows_on_(num_capacities), is_touched_(num_capacities, false) {}

    void add(std::int32_t flow, std::span<const std::int32_t> capacities);
    void remove(std::int32_t flow);

    [[nodiscard]] const std::vector<std::int32_t>& flows_on(std::int32_t capacity) const {
        return flows_on_[static_cast<std::size_t>(capacity)];
    }
    [[nodiscard]] std::span<const std::int32_t> capacities_of(std::int32_t flow) const {
        return capacities_[static_cast<std::size_t>(flow)];
    }
    /// One more than the largest flow so far.
    [[nodiscard]] std::size_t num_flows() const { return capacities_.size(); }

    /// Capacities whose flows changed since they were last forgotten, each once.
    [[nodiscard]] const std::vector<std::int32_t>& touched() const { return touched_; }
    void forget_touched();

private:
    void touch(std::int32_t capacity);

    std::vector<std::vector<std::int32_t>> flows_on_;        // [capacity]
    std::vector<std::span<const std::int32_t>> capacities_;  // [flow]
    std::vector<std::int32_t> touched_;
    std::vector<bool> is_touched_;
};

}  // namespace hocket::simulation
