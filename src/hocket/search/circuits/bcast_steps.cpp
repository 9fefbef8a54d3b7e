// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

Steps linear_bcast(std::int32_t p, double bytes) {
    Steps result{"linear", bytes, 1, {}};
    for (std::int32_t to = 1; to < p; ++to) result.steps.push_back({plain(0, to, {0})});
    return result;
}

Steps binomial_bcast(std::int32_t p, double bytes) {
    Steps result{"binomial", bytes, 1, {}};
    for (std::int32_t have = 1; have < p; have *= 2) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t node = 0; node < std::min(have, p - have); ++node)
            step.push_back(plain(node, node + have, {0}));
    }
    return result;
}

}  // namespace

std::vector<Steps> bcast_steps(std::int32_t p, double bytes) {
    return {linear_bcast(p, bytes), binomial_bcast(p, bytes)};
}

}  // namespace hocket::search
