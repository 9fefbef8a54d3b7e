// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <utility>

#include "hocket/base/index.hpp"

namespace hocket::circuits {

/// The life of one circuit, of a schedule or of a simulation. Times in seconds; infinite = not yet.
struct Circuit {
    std::int32_t a, b;                  ///< nodes, a < b
    std::int32_t configuration = 0;     ///< circuits with the same number are torn down together if the rules want it
    double setup_s = 0, open_s = 0;     ///< when the set-up begins and ends
    double teardown_s = 0, down_s = 0;  ///< when the teardown begins and ends
    std::int32_t port_a = -1, port_b = -1;  ///< of its nodes, from 0; -1: any
    std::int32_t wavelength = -1;           ///< the same on each cable; -1: any
    std::int32_t place = -1;                ///< among the circuits that the network may have at a time; -1: any number
};

/// Two hosts of a network, the smaller number first.
using HostPair = std::pair<NodeId, NodeId>;
inline HostPair pair_of(NodeId a, NodeId b) { return a.value < b.value ? HostPair{a, b} : HostPair{b, a}; }

}  // namespace hocket::circuits
