// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/reroute.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "interpose/arguments.hpp"
#include "interpose/communicators.hpp"
#include "interpose/session.hpp"

namespace hocket::interpose {

namespace {

using runtime::Buffer;
using runtime::Operation;

// Prepared operations are kept for the roots used last.
constexpr std::size_t max_roots = 8;

// MPI's own functions may call collective functions by their public names; those are not the program's.
thread_local int depth = 0;
struct Inside {
    Inside() { ++depth; }
    ~Inside() { --depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

/// The buffer whose size all ranks see alike: the message, or the block of one rank.
const Buffer& sizing_buffer(const Call& call, const Communicator& communicator) {
    const bool is_root = call.root == communicator.rank;
    const bool by_send =
        call.collective == Collective::scatter ? is_root : call.collective == Collective::gather && !is_root;
    return by_send ? call.arguments.send : call.arguments.recv;
}

/// Negative if there is no such size, which the MPI's own function will complain about.
std::int64_t bytes_of(const Call& call, const Communicator& communicator) {
    if (call.collective == Collective::barrier) return 0;
    const Buffer& buffer = sizing_buffer(call, communicator);
    if (buffer.type == MPI_DATATYPE_NULL || buffer.count < 0) return -1;
    int small = 0;
    PMPI_Type_size(buffer.type, &small);
    const std::int64_t size = small == MPI_UNDEFINED ? runtime::size_of(buffer.type) : small;
    std::int64_t bytes = 0;
    return __builtin_mul_overflow(size, buffer.count, &bytes) ? -1 : bytes;
}

Route* find_route(Communicator& communicator, const Call& call) {
    const std::int64_t bytes = bytes_of(call, communicator);
    for (Route& route : communicator.routes[static_cast<std::size_t>(call.collective)]) {
        const runtime::PlanEntry& entry = *route.entry;
        if (bytes >= entry.bytes_min && bytes <= entry.bytes_max && (!entry.root || entry.root->value == call.root))
            return &route;
    }
    return nullptr;
}

/// Whether the schedule may combine with the call's operator. The arguments are good.
bool keeps_order(Route& route, const Call& call) {
    if (!combines(call.collective)) return true;
    if (runtime::describe(call.arguments.recv.type).extent_bytes <= 0) return false;
    int commutative = 0;
    if (PMPI_Op_commutative(call.arguments.op, &commutative) != MPI_SUCCESS) return false;
    if (commutative != 0) return true;
    if (!route.preserves_order || route.order_root.value != call.root) {
        route.order_root = Rank{call.root};
        route.preserves_order = route.entry->preserves_order(route.order_root);
    }
    if (!*route.preserves_order) session.count(route.index).kept_native.fetch_add(1, std::memory_order_relaxed);
    return *route.preserves_order;
}

/// Gives the call a number that all ranks know it by, and with it tags that no message of an earlier call has: of one that failed,
/// some may still be under way. Counts every call, also one that is wrong on this rank alone, and does not look at the arguments,
/// because now and then it makes a communicator, which needs all ranks.
int number_call(Communicator& communicator) {
    if (communicator.own != MPI_COMM_NULL && ++communicator.call < runtime::num_call_tags()) return MPI_SUCCESS;
    for (auto& routes : communicator.routes) {
        for (Route& route : routes) route.operations.clear();
    }
    if (communicator.own != MPI_COMM_NULL) PMPI_Comm_free(&communicator.own);
    communicator.call = 0;
    return runtime::duplicate(communicator.users, &communicator.own);
}

Operation& operation_for(Route& route, const Communicator& communicator, Rank root) {
    auto& operations = route.operations;
    const auto same_root = [&](const auto& operation) { return operation->role().root == root; };
    const auto found = std::find_if(operations.begin(), operations.end(), same_root);
    if (found != operations.end()) {
        std::rotate(found, found + 1, operations.end());
        return *operations.back();
    }
    if (operations.size() == max_roots) operations.erase(operations.begin());
    const Rank self{communicator.rank};
    const runtime::Role role{route.entry->collective, communicator.size, root, self, route.entry->schedule_pieces()};
    operations.push_back(std::make_unique<Operation>(role, route.entry->rank_schedule(root, self), communicator.own));
    return *operations.back();
}

int execute(Route& route, Communicator& communicator, const Call& call) noexcept {
    try {
        Operation& operation = operation_for(route, communicator, Rank{call.root});
        return operation.execute(call.arguments, communicator.call);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    } catch (const std::exception&) {
        return MPI_ERR_INTERN;
    }
}

}  // namespace

std::optional<int> reroute(const Call& call) {
    if (depth > 0 || call.comm == MPI_COMM_NULL) return {};
    Communicator* const communicator = find_communicator(call.comm);
    if (communicator == nullptr) return {};
    if (communicator->routes[static_cast<std::size_t>(call.collective)].empty()) return {};
    const Inside inside;
    if (number_call(*communicator) != MPI_SUCCESS) return {};
    Route* const route = find_route(*communicator, call);
    if (route == nullptr) return {};
    const Verdict verdict = judge(call, communicator->rank, communicator->size);
    if (verdict.action == Verdict::native) return {};
    if (verdict.action == Verdict::serve && !keeps_order(*route, call)) return {};
    const int code = verdict.action == Verdict::refuse ? verdict.code : execute(*route, *communicator, call);
    session.count(route->index).rerouted.fetch_add(1, std::memory_order_relaxed);
    // The schedule's own communicator returns errors; what an error means is for the program's communicator to say.
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, code);
    return code;
}

}  // namespace hocket::interpose
