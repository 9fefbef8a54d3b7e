// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hocket/program/what_if.hpp"

namespace bindings {

/// Of hocket.simulation.what_if: CPU scale, that of ranks, delays (rank, seconds, at_s), noise, its seed.
using WhatIfValues =
    std::tuple<double, std::map<std::int32_t, double>, std::vector<std::tuple<std::int32_t, double, double>>,
               std::optional<std::string>, std::uint64_t>;

inline hocket::WhatIf what_if_from(const WhatIfValues& values) {
    const auto& [cpu_scale, cpu_scale_of, delays, noise, seed] = values;
    hocket::WhatIf what_if{cpu_scale, cpu_scale_of, {}, {}};
    for (const auto& [rank, seconds, at_s] : delays) what_if.delays.push_back({hocket::Rank{rank}, seconds, at_s});
    if (noise) what_if.noise.push_back(hocket::noise_from(*noise, seed));
    return what_if;
}

}  // namespace bindings
