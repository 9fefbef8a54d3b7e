// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/routes.hpp"

#include <algorithm>

#include "hocket/plan/plan.hpp"
#include "interpose/entry_counts.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

namespace {

using runtime::Buffer;

/// The buffer whose size all ranks see alike: the message, or the block of one rank.
const Buffer& sizing_buffer(const Call& call, const Communicator& communicator) {
    const bool is_root = call.root == communicator.rank;
    const bool by_send =
        call.collective == Collective::scatter ? is_root : call.collective == Collective::gather && !is_root;
    return by_send ? call.arguments.send : call.arguments.recv;
}

std::int64_t size_of(MPI_Datatype type) {
    if (const runtime::TypeInfo* const info = runtime::find_known(type)) return info->size_bytes;
    int small = 0;
    PMPI_Type_size(type, &small);
    return small == MPI_UNDEFINED ? runtime::size_of(type) : small;
}

constexpr Signature no_signature{-1};

/// Every rank has the counts of all.
Signature uneven_signature(const Call& call, std::int32_t num_ranks) {
    const runtime::UnevenBlocks& blocks = call.arguments.blocks;
    const MPI_Datatype type = call.arguments.recv.type;
    if (!blocks.has_counts() || type == MPI_DATATYPE_NULL) return no_signature;
    std::int64_t total = 0, largest = 0;
    for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
        const std::int64_t count = blocks.count(rank);
        if (count < 0 || __builtin_add_overflow(total, count, &total)) return no_signature;
        largest = std::max(largest, count);
    }
    const std::int64_t size = size_of(type);
    if (size < 0 || __builtin_mul_overflow(total, size, &total)) return no_signature;
    largest *= size;
    const std::int64_t mean = total / num_ranks + (total % num_ranks != 0 ? 1 : 0);
    if ((largest + most_uneven - 1) / most_uneven > mean) return {-1, 0, true};
    const std::int64_t more = largest - std::min(mean, largest);
    if (more == 0) return {mean};
    return {mean, static_cast<std::int32_t>(4 * static_cast<double>(more) / static_cast<double>(mean))};
}

}  // namespace

Signature signature_of(const Call& call, const Communicator& communicator) {
    if (call.collective == Collective::barrier) return {0};
    if (call.arguments.blocks.given()) return uneven_signature(call, communicator.size);
    const Buffer& buffer = sizing_buffer(call, communicator);
    if (buffer.type == MPI_DATATYPE_NULL || buffer.count < 0) return no_signature;
    const std::int64_t size = size_of(buffer.type);
    std::int64_t bytes = 0;
    return {__builtin_mul_overflow(size, buffer.count, &bytes) ? -1 : bytes};
}

Route* find_route(std::vector<Route>& routes, const Call& call, std::int64_t bytes) {
    for (Route& route : routes) {
        if (serves_call(*route.entry, bytes, call.root)) return &route;
    }
    return nullptr;
}

bool may_combine(const Route& route, const Call& call) {
    if (runtime::describe(call.arguments.recv.type).extent_bytes <= 0) return false;
    if (runtime::is_commutative(call.arguments.op)) return true;
    const bool is_right = route.entry->schedule.preserves_order(Rank{call.root});
    if (!is_right) route.count->kept_native.fetch_add(1, std::memory_order_relaxed);
    return is_right;
}

}  // namespace hocket::interpose
