// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/planned_calls.hpp"

#include <optional>
#include <utility>

#include "interpose/arguments.hpp"
#include "interpose/communicators.hpp"
#include "interpose/routes.hpp"
#include "runtime/datatype.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

void open_queue(MPI_Comm comm) {
    release_forgotten();
    Communicator* const communicator = find_communicator(comm);
    if (communicator == nullptr || communicator->queue || communicator->members.empty()) return;
    communicator->queue = make_queue(comm, communicator->rank, communicator->size);
}

namespace {

/// What the plan has for a call.
struct Service {
    Communicator* communicator;
    const Route* route;
    std::int64_t bytes;

    [[nodiscard]] std::unique_ptr<PlannedCall> plan(const Call& call) const {
        return std::make_unique<PlannedCall>(communicator->queue, *route->entry, *route->count, call, bytes);
    }
};

/// Null: all such calls stay the MPI's own, on all ranks.
Communicator* served_communicator(const Call& call) {
    if (call.comm == MPI_COMM_NULL) return nullptr;
    Communicator* const communicator = find_communicator(call.comm);
    if (communicator == nullptr || !communicator->queue) return nullptr;
    const CallKind kind = kind_of(call);
    decide_routes(*communicator, kind);
    return communicator->routes[place_of(kind)].empty() ? nullptr : communicator;
}

/// Nothing: the call stays the MPI's own, on all ranks that make the same one.
std::optional<Service> service_of(const Call& call) {
    Communicator* const communicator = served_communicator(call);
    if (communicator == nullptr) return {};
    auto& routes = communicator->routes[place_of(kind_of(call))];
    const std::int64_t bytes = signature_of(call, *communicator).bytes;
    const Route* const route = find_route(routes, call, bytes);
    if (route == nullptr || route->is_contender) return {};  // nothing compares it
    // An operator of the program's own would run beside the program.
    if (combines(call.collective) && !runtime::is_predefined(call.arguments.op)) return {};
    return Service{communicator, route, bytes};
}

bool has_extent(const Call& call) {
    return !combines(call.collective) || runtime::describe(call.arguments.recv.type).extent_bytes > 0;
}

}  // namespace

std::unique_ptr<PlannedCall> plan_call(const Call& call, int* code) {
    *code = MPI_SUCCESS;
    const std::optional<Service> service = service_of(call);
    if (!service) return nullptr;
    const Verdict verdict = judge(call, service->communicator->rank, service->communicator->size);
    if (verdict.action == Verdict::native) return nullptr;  // and it takes no turn: natively it would be no call either
    std::unique_ptr<PlannedCall> planned = service->plan(call);
    if (verdict.action == Verdict::serve) {
        if (!has_extent(call)) return nullptr;
        *code = planned->bind();
        if (*code == MPI_SUCCESS) return planned;
    }
    planned->pass_over();
    if (verdict.action == Verdict::refuse) *code = verdict.code;
    return nullptr;
}

std::unique_ptr<PlannedCall> plan_persistent(const Call& call) {
    Communicator* const communicator = served_communicator(call);
    if (communicator == nullptr) return nullptr;
    std::unique_ptr<PlannedCall> planned;
    if (const std::optional<Service> service = service_of(call)) {
        const Verdict verdict = judge(call, communicator->rank, communicator->size);
        if (verdict.action == Verdict::serve && has_extent(call)) planned = service->plan(call);
        if (planned && planned->bind() != MPI_SUCCESS) planned.reset();
    }
    release_closed_queues();
    std::shared_ptr<CollectiveQueue> own_queue = communicator->queue->make_another(planned != nullptr);
    if (!own_queue) return nullptr;
    planned->move_to(std::move(own_queue));
    return planned;
}

}  // namespace hocket::interpose
