// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hocket/circuits/circuit.hpp"
#include "hocket/network/network.hpp"

namespace hocket::circuits {

/// The circuits of the network.
/// @throws InvalidInput  if it has none
const network::Circuits& circuits_of(const Network&);

/// The cables of a circuit: over circuit switches alone, as few as possible, among these the first of the file. Both
/// directions take the same.
class CircuitPaths {
public:
    /// `electrical`: over all other switches instead.
    /// @throws InvalidInput  if the network has no circuits
    explicit CircuitPaths(const Network&, bool electrical = false);

    [[nodiscard]] bool joins(NodeId a, NodeId b);

    /// The links from `a` to `b`, in order, instead of what `links` had.
    /// @throws InvalidInput  if none does
    void find(NodeId a, NodeId b, std::vector<LinkId>& links);
    [[nodiscard]] double latency_s(const std::vector<LinkId>& path) const;

private:
    bool over_one_switch(HostPair, std::vector<LinkId>& links) const;
    const std::vector<LinkId>& over_several(HostPair);

    const Network& network_;
    bool electrical_;
    std::vector<bool> switches_;
    std::unordered_map<std::uint64_t, std::vector<LinkId>> known_;  // of longer ones; empty: none
};

}  // namespace hocket::circuits
