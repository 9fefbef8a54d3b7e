// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/c_calls.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "common/backoff.hpp"
#include "runtime/c_engines.hpp"
#include "runtime/c_status.hpp"

using namespace hocket;
using namespace hocket::runtime;

namespace {

/// A reduction by a schedule has one count and one datatype; the MPI's own function is given those of `recv`. NULL is a
/// good address of types that hold addresses (MPI_BOTTOM).
void require_one_vector(const hocket_operation_arguments& given, const hocket_operation& operation) {
    const bool is_rooted = operation.role.collective == Collective::reduce;
    const bool named = describe(given.recv_type).named;
    require_argument(
        given.recv_buffer != nullptr || given.recv_count == 0 || !named || (is_rooted && !operation.role.is_root()),
        "recv_buffer is NULL");
    if (given.send_buffer == MPI_IN_PLACE || given.send_type == MPI_DATATYPE_NULL) return;
    require_argument(!named || !describe(given.send_type).named || given.send_type == given.recv_type,
                     "send_type and recv_type of a reduction differ");
    require_argument(given.send_type != given.recv_type || given.send_count == given.recv_count,
                     "send_count and recv_count of a reduction differ");
}

}  // namespace

hocket_status hocket::runtime::read_arguments(const hocket_operation& operation,
                                              const hocket_operation_arguments& given, Arguments& arguments,
                                              BlockArguments& blocks) {
    require_argument(given.struct_size >= offsetof(hocket_operation_arguments, send_counts),
                     "struct_size is too small");
    const bool is_reduction = operation.is_native() ? combines(operation.native) : combines(operation.role.collective);
    if (is_reduction) {
        require_argument(given.op != MPI_OP_NULL, "a reduction needs an operator");
        // First of what may be wrong on this rank alone, because all ranks see this alike.
        if (!operation.is_native() && !is_commutative(given.op) &&
            !operation.schedule->preserves_order(operation.role.root))
            return fail(HOCKET_ERROR_ORDER);
        require_argument(given.recv_type != MPI_DATATYPE_NULL, "a reduction needs a datatype: recv_type");
    }
    require_argument(given.send_count >= 0 && given.recv_count >= 0, "a count is negative");
    if (is_reduction && !operation.is_native()) require_one_vector(given, operation);
    arguments.send = {const_cast<void*>(given.send_buffer), given.send_count, given.send_type};
    arguments.recv = {given.recv_buffer, given.recv_count, given.recv_type};
    arguments.op = given.op;
    if (operation.is_native() && has_blocks(operation.native)) {
        require_argument(given.struct_size >= sizeof given, "the collective needs counts for each rank");
        blocks = {given.send_counts,        given.send_displacements, given.recv_counts,
                  given.recv_displacements, given.send_types,         given.recv_types};
        if (const char* const missing =
                missing_of(operation.native, blocks, arguments.send.in_place(), operation.role.is_root()))
            throw InvalidInput(std::string("NULL: ") + missing + ", which the collective needs on this rank");
    }
    return HOCKET_OK;
}

std::uint64_t hocket::runtime::number_call(const hocket_operation& operation, const hocket_engine* engine) {
    hocket_communicator& communicator = operation.communicator;
    if (engine != nullptr) {
        communicator.has_started = true;
        if (operation.is_native()) communicator.native_by_queue = engine->is_queue;
    }
    return ++communicator.num_calls;
}

std::unique_ptr<CollectiveTask> hocket::runtime::take_task(hocket_operation& operation) {
    if (!operation.idle.empty()) {
        std::unique_ptr<CollectiveTask> task = std::move(operation.idle.back());
        operation.idle.pop_back();
        return task;
    }
    const Role& role = operation.role;
    const MPI_Comm comm = operation.communicator.private_comm;
    return operation.is_native() ? make_native_task(operation.native, role.root.value, comm)
                                 : make_schedule_task(role, operation.graph, comm);
}

int hocket::runtime::execute_helping(hocket_operation& operation, const Arguments& arguments,
                                     const BlockArguments& blocks, std::uint64_t call) {
    std::unique_ptr<CollectiveTask> task = take_task(operation);
    require(task->bind(arguments, blocks, operation.role.num_ranks));
    task->arm(call);
    Backoff backoff;
    for (auto state = Task::State::waiting; state != Task::State::done;) {
        state = task->advance();
        if (help_all() || state == Task::State::moved) {
            backoff.reset();
        } else if (state == Task::State::waiting) {
            backoff.pause();
        }
    }
    const int code = task->error();
    task->unbind();
    operation.idle.push_back(std::move(task));
    return code;
}
