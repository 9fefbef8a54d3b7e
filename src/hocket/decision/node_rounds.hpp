// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/rounds.hpp"

namespace hocket::decision {

/// The rounds of node_aware or by_dimension, without its ops, which list each block several times. Nodes of one rank
/// are counted as if they waited for the messages within others.
cost::Rounds node_rounds(const collectives::Algorithm&, const collectives::Shape&);

}  // namespace hocket::decision
