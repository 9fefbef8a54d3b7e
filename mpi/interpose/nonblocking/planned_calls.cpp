// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/planned_calls.hpp"

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

std::unique_ptr<PlannedCall> plan_call(const Call& call, int* code) {
    *code = MPI_SUCCESS;
    if (call.comm == MPI_COMM_NULL) return nullptr;
    Communicator* const communicator = find_communicator(call.comm);
    if (communicator == nullptr || !communicator->queue) return nullptr;
    const CallKind kind = kind_of(call);
    decide_routes(*communicator, kind);
    auto& routes = communicator->routes[place_of(kind)];
    if (routes.empty()) return nullptr;
    const std::int64_t bytes = signature_of(call, *communicator).bytes;
    const Route* const route = find_route(routes, call, bytes);
    if (route == nullptr) return nullptr;
    const bool combining = combines(call.collective);
    // An operator of the program's own would run beside the program.
    if (combining && !runtime::is_predefined(call.arguments.op)) return nullptr;
    const Verdict verdict = judge(call, communicator->rank, communicator->size);
    if (verdict.action == Verdict::native) return nullptr;  // and it takes no turn: natively it would be no call either
    auto planned = std::make_unique<PlannedCall>(communicator->queue, *route->entry, *route->count, call, bytes);
    if (verdict.action == Verdict::serve) {
        if (combining && runtime::describe(call.arguments.recv.type).extent_bytes <= 0) return nullptr;
        *code = planned->bind();
        if (*code == MPI_SUCCESS) return planned;
    }
    planned->pass_over();
    if (verdict.action == Verdict::refuse) *code = verdict.code;
    return nullptr;
}

}  // namespace hocket::interpose
