// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/circuits/circuit_schedule.hpp"
#include "hocket/schedule/schedule.hpp"
#include "hocket/search/circuits/graphs.hpp"

/// Textbook algorithms as steps, and how steps become configurations of circuits.
namespace hocket::search {

struct Steps {
    std::string_view algorithm;
    double block_bytes;
    std::int32_t blocks;                                    ///< in all
    std::vector<std::vector<circuits::Draft::Send>> steps;  ///< their numbers are not set yet
};

/// As many consecutive steps in a configuration as its ports allow, which gives the fewest configurations: if steps fit
/// in one together, so does each part of them. A step that needs more ports than a node has becomes several.
/// @param joins  false: each step has a configuration of its own
circuits::Draft by_configurations(const Steps&, std::int32_t num_nodes, std::int32_t ports, bool joins = true);

/// `bytes` as in MPI: of the block of a rank, of the vector for allreduce, of the block for one peer for alltoall.
/// Block numbers: of the rank for allgather; parts of the vector for allreduce; p source + destination for alltoall.
std::vector<Steps> bcast_steps(std::int32_t p, double bytes);  ///< from node 0, in one block
/// In p blocks. `ports`: what an algorithm may use.
std::vector<Steps> divided_bcast_steps(std::int32_t p, double bytes, std::int32_t ports);
std::vector<Steps> allgather_steps(std::int32_t p, double bytes, std::int32_t ports = 1);
std::vector<Steps> allreduce_steps(std::int32_t p, double bytes);
std::vector<Steps> alltoall_steps(std::int32_t p, double bytes, std::int32_t ports = 1);
/// Of any of these collectives; none for others.
std::vector<Steps> steps_of(Collective, std::int32_t p, double bytes);

/// On one configuration: each node sends a neighbour all blocks that it lacks, to the one that lacks most first.
circuits::Draft gossip(const Graph&, double bytes, const circuits::Rules&);
/// The same for alltoall: each block on a shortest way, all that wait for the same neighbour in one message.
circuits::Draft route(const Graph&, double bytes, const circuits::Rules&, base::Random&);
/// An allgather of parts of a vector makes an allreduce: backwards in time it combines each part at the node that the
/// part is of, and then it gives all parts to all.
circuits::Draft allreduce_of(const circuits::Draft& allgather);

}  // namespace hocket::search
