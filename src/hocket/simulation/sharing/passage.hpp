// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>

namespace hocket::simulation {

/// What crosses capacities, and when. Only Sharing::reserve looks at more than the capacities.
struct Passage {
    std::span<const std::int32_t> capacities;  ///< distinct and finite, at least one
    std::span<const double> delays_s = {};     ///< [of capacities] from the start to the first byte there
    double bytes = 0;
};

}  // namespace hocket::simulation
