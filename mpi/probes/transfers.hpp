// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hocket::probes {

/// `count` messages of `bytes` each from rank `source` to rank `target`, one after the other.
struct Transfer {
    int source;
    int target;
    std::int64_t bytes;
    int count;
};

/// Transfers that start together.
using Experiment = std::vector<Transfer>;

/// What hocket-transfers shall measure ("hocket.transfers/1"): every round runs all experiments once, in this order.
struct Campaign {
    std::vector<Experiment> experiments;
    int rounds;
    double seconds;                          ///< no round starts later; the first one always does
    std::vector<std::pair<int, int>> costs;  ///< source and target of what `measure_core_costs` measures
};

/// @throws InvalidInput  with `source_name` and the experiment
Campaign parse_campaign(const std::string& text, const std::string& source_name, int num_ranks);

}  // namespace hocket::probes
