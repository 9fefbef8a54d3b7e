// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/program/program.hpp"
#include "hocket/simulation/timeline.hpp"

namespace hocket::simulation {

/// @throws InvalidInput  if the network has too few ranks.
void check(const Program&, const Network&);
void check_ranks(std::size_t num_ranks, const Network&);

/// @throws InvalidInput  if the program connects circuits: fixed routes have none.
void refuse_circuits(const Program&, const Network&);

/// `ranks`: the interval of each op, without a number at the end of one that never ended.
/// @throws InvalidInput  about the first op that waits for ever, if there is one.
void check_finished(const Program&, const std::vector<std::vector<Timeline::Interval>>& ranks, bool with_rendezvous);

}  // namespace hocket::simulation
