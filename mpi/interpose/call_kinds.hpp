// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hocket/schedule/schedule.hpp"
#include "interpose/call.hpp"

namespace hocket::interpose {

/// What of the program's calls is decided on, compared and counted apart: the collectives in the order of Collective,
/// those of blocks that differ from rank to rank, which the schedules of another collective serve, and those that no
/// schedule serves.
enum class CallKind : std::uint8_t {
    bcast,
    reduce,
    allreduce,
    allgather,
    alltoall,
    reduce_scatter_block,
    scatter,
    gather,
    barrier,
    allgatherv,      ///< by schedules of allgather
    reduce_scatter,  ///< by those of reduce_scatter_block
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) name,
#include "pmpi/counted.inc"
    count
};
constexpr std::size_t num_kinds = static_cast<std::size_t>(CallKind::count);
constexpr std::size_t num_served_kinds = static_cast<std::size_t>(CallKind::reduce_scatter) + 1;

constexpr std::size_t place_of(CallKind kind) { return static_cast<std::size_t>(kind); }
static_assert(static_cast<CallKind>(Collective::barrier) == CallKind::barrier);
constexpr CallKind kind_of(Collective collective) { return static_cast<CallKind>(collective); }
/// Those with blocks that differ.
constexpr bool is_uneven(CallKind kind) { return kind == CallKind::allgatherv || kind == CallKind::reduce_scatter; }
inline CallKind kind_of(const Call& call) {
    if (!call.arguments.blocks.given()) return kind_of(call.collective);
    return call.collective == Collective::allgather ? CallKind::allgatherv : CallKind::reduce_scatter;
}
/// Whose schedules serve it. Not of those that no schedule serves.
constexpr Collective server_of(CallKind kind) {
    if (kind == CallKind::allgatherv) return Collective::allgather;
    return kind == CallKind::reduce_scatter ? Collective::reduce_scatter_block : static_cast<Collective>(kind);
}

/// Calls `visit` with each kind that the schedules of the collective serve.
template <class Visit>
void each_kind_served_by(Collective collective, const Visit& visit) {
    visit(kind_of(collective));
    if (collective == Collective::allgather) visit(CallKind::allgatherv);
    if (collective == Collective::reduce_scatter_block) visit(CallKind::reduce_scatter);
}

/// "bcast", "allgatherv", "neighbor_alltoall", ...
std::string name_of(CallKind kind);

}  // namespace hocket::interpose
