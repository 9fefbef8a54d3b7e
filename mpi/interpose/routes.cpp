// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/routes.hpp"

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

}  // namespace

std::int64_t signature_bytes(const Call& call, const Communicator& communicator) {
    if (call.collective == Collective::barrier) return 0;
    const Buffer& buffer = sizing_buffer(call, communicator);
    if (buffer.type == MPI_DATATYPE_NULL || buffer.count < 0) return -1;
    const std::int64_t size = size_of(buffer.type);
    std::int64_t bytes = 0;
    return __builtin_mul_overflow(size, buffer.count, &bytes) ? -1 : bytes;
}

Route* find_route(Communicator& communicator, const Call& call, std::int64_t bytes) {
    for (Route& route : communicator.routes[static_cast<std::size_t>(call.collective)]) {
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
