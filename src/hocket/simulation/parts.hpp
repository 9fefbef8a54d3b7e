// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/network/fabric.hpp"
#include "hocket/simulation/paths.hpp"
#include "hocket/traffic/traffic.hpp"

namespace hocket::simulation {

/// Sources whose messages cross no link that those of other parts cross, and the capacities of these links; both are
/// numbered anew, in the same order. Nothing that happens in one part changes anything in another.
struct Part {
    std::vector<Rank> sources;
    std::vector<std::int32_t> capacities;
    std::int64_t num_messages = 0;
};

/// A traffic divided into parts, or one part that is the whole: nothing is numbered anew, and its lists are empty.
struct Division {
    std::vector<Part> parts;            ///< most messages first
    std::vector<std::int32_t> numbers;  ///< [capacity] within its part; empty = the whole

    [[nodiscard]] bool is_whole() const { return numbers.empty(); }
};

/// Divides a traffic as finely as parts of at least `part_messages` allow. Does not look further once nearly all of it
/// is found to hang together. The same for the same input: how many threads there are plays no part in it.
Division divide(const Traffic&, const network::Fabric&, Paths, std::int64_t part_messages);

}  // namespace hocket::simulation
