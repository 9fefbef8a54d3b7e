// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/serve.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "interpose/entry_counts.hpp"
#include "interpose/inside.hpp"

namespace hocket::interpose {

namespace {

using runtime::Operation;

// Prepared operations are kept for the roots and numbers of segments used last.
constexpr std::size_t max_prepared = 8;

Operation& operation_for(Route& route, const Communicator& communicator, Rank root, std::int64_t bytes) {
    const PlannedSchedule& schedule = route.entry->schedule;
    auto& operations = route.operations;
    const std::int32_t asked_segments = segments_of(schedule, bytes);
    const auto found = std::find_if(operations.begin(), operations.end(), [&](const Prepared& prepared) {
        return prepared.root == root && prepared.asked_segments == asked_segments;
    });
    if (found != operations.end()) {
        std::rotate(found, found + 1, operations.end());
        return *operations.back().operation;
    }
    if (operations.size() == max_prepared) operations.erase(operations.begin());
    const Rank self{communicator.rank};
    PlannedPart part = part_of(schedule, root, self, asked_segments);
    const runtime::Role role{route.entry->collective, communicator.size, root, self, part.segments};
    auto graph = std::make_shared<const runtime::RankGraph>(std::move(part.schedule));
    operations.push_back(
        {root, asked_segments, std::make_unique<Operation>(role, std::move(graph), communicator.private_comm)});
    return *operations.back().operation;
}

int execute(Route& route, const Communicator& communicator, const Call& call, std::int64_t bytes) noexcept {
    try {
        return operation_for(route, communicator, Rank{call.root}, bytes).execute(call.arguments, communicator.call);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    } catch (const std::exception&) {
        return MPI_ERR_INTERN;
    }
}

}  // namespace

int serve(Route& route, const Communicator& communicator, const Call& call, std::int64_t bytes, int refused) {
    const Inside inside;
    const int code = refused != MPI_SUCCESS ? refused : execute(route, communicator, call, bytes);
    route.count->rerouted.fetch_add(1, std::memory_order_relaxed);
    // The private communicator returns errors; the error handler of the program's communicator decides what follows.
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, code);
    return code;
}

}  // namespace hocket::interpose
