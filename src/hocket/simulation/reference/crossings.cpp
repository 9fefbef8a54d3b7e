// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/reference/crossings.hpp"

#include <algorithm>

namespace hocket::simulation {

void Crossings::touch(std::int32_t capacity) {
    if (is_touched_[static_cast<std::size_t>(capacity)]) return;
    is_touched_[static_cast<std::size_t>(capacity)] = true;
    touched_.push_back(capacity);
}

void Crossings::add(std::int32_t flow, std::span<const std::int32_t> capacities) {
    if (static_cast<std::size_t>(flow) >= capacities_.size()) capacities_.resize(static_cast<std::size_t>(flow) + 1);
    capacities_[static_cast<std::size_t>(flow)] = capacities;
    for (const std::int32_t capacity : capacities) {
        flows_on_[static_cast<std::size_t>(capacity)].push_back(flow);
        touch(capacity);
    }
}

void Crossings::remove(std::int32_t flow) {
    for (const std::int32_t capacity : capacities_[static_cast<std::size_t>(flow)]) {
        std::vector<std::int32_t>& flows = flows_on_[static_cast<std::size_t>(capacity)];
        // The search costs no more than re-rating the flows of the capacity, which follows.
        *std::find(flows.begin(), flows.end(), flow) = flows.back();
        flows.pop_back();
        touch(capacity);
    }
    capacities_[static_cast<std::size_t>(flow)] = {};
}

void Crossings::forget_touched() {
    for (const std::int32_t capacity : touched_) is_touched_[static_cast<std::size_t>(capacity)] = false;
    touched_.clear();
}

}  // namespace hocket::simulation
