// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/c_requests.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "runtime/c_calls.hpp"
#include "runtime/c_engines.hpp"
#include "runtime/c_status.hpp"

using namespace hocket;
using namespace hocket::runtime;

namespace {

hocket_status result_of(const hocket_request& request) {
    const int code = request.error();
    if (code == MPI_ERR_NO_MEM) throw std::bad_alloc();
    require(code);
    return HOCKET_OK;
}

/// The request has ended: gives its selection the time.
void record_end(hocket_request& request) {
    if (request.selection == nullptr) return;
    request.selection->selector.took(request.arm, now_ns() - request.started_ns);
    --request.selection->num_in_flight;
    request.selection = nullptr;
}

void require_ended(const hocket_request& request) {
    require_argument(request.running().is_done(), "the request is pending: wait for it before it is started again");
}

/// How many requests from the first on can be one. All ranks see the same.
std::size_t num_fusable(std::span<hocket_request* const> requests) {
    const hocket_request& first = *requests.front();
    const Arguments& wanted = first.task->arguments();
    std::int64_t bytes = 0;
    std::size_t num = 0;
    for (const hocket_request* const request : requests) {
        const Arguments& call = request->task->arguments();
        if (&request->operation != &first.operation || request->engine != first.engine) break;
        if (request->engine == nullptr) break;  // of a selection, whose arm has none
        if (!FusedTask::suits(first.operation.role.collective, call)) break;
        if (call.recv.type != wanted.recv.type || call.op != wanted.op) break;
        bytes += call.recv.count * size_of(call.recv.type);
        if (bytes > FusedTask::max_bytes) break;
        ++num;
    }
    return num;
}

void start_fused(std::span<hocket_request* const> requests) {
    std::vector<const Arguments*> calls;
    for (const hocket_request* const request : requests) calls.push_back(&request->task->arguments());
    hocket_request& first = *requests.front();
    std::shared_ptr<FusedTask> fused = first.fused;
    if (!fused || fused->calls() != calls) {
        fused = std::make_shared<FusedTask>(first.operation.role, take_task(first.operation));
        require(fused->bind(std::move(calls)));
    }
    for (hocket_request* const request : requests) {
        request->fused = fused;
        request->is_fused = true;
    }
    fused->arm(number_call(first.operation, first.engine));
    start_in(*first.engine, *fused);
}

}  // namespace

hocket_status hocket::runtime::create_request(hocket_operation* operation, const hocket_operation_arguments* arguments,
                                              hocket_engine* engine, hocket_request** request) {
    require_argument(operation != nullptr && arguments != nullptr && request != nullptr, "an argument is NULL");
    Arguments given;
    BlockArguments blocks;
    const hocket_status status = read_arguments(*operation, *arguments, given, blocks);
    if (status != HOCKET_OK) return status;
    hocket_communicator& communicator = operation->communicator;
    if (operation->is_native() && engine != nullptr) {
        require_argument(communicator.num_native_requests == 0 || communicator.native_engine == engine,
                         "requests of native operations on one communicator must have one engine");
    }
    auto made = std::make_unique<hocket_request>(hocket_request{*operation, engine, take_task(*operation)});
    require(made->task->bind(given, blocks, operation->role.num_ranks));
    if (operation->is_native() && engine != nullptr) {
        communicator.native_engine = engine;
        ++communicator.num_native_requests;
    }
    *request = made.release();
    return HOCKET_OK;
}

void hocket::runtime::start_request(hocket_request& request, std::uint64_t call) {
    request.is_fused = false;
    request.task->arm(call);
    if (request.engine != nullptr) return start_in(*request.engine, *request.task);
    // MPI matches native calls by their order, and those in a queue may not have been made yet.
    hocket_communicator& communicator = request.operation.communicator;
    if (request.operation.is_native() && communicator.native_by_queue && communicator.num_native_requests > 0)
        drain(*communicator.native_engine);
    request.task->complete();
}

hocket_status hocket_request_create(hocket_operation* operation, const hocket_operation_arguments* arguments,
                                    hocket_engine* engine, hocket_request** request) {
    return guarded([&] {
        require_argument(engine != nullptr, "no engine given");
        return create_request(operation, arguments, engine, request);
    });
}

hocket_status hocket_request_start(hocket_request* request) {
    return guarded([&] {
        require_argument(request != nullptr, "no request given");
        require_ended(*request);
        start_request(*request, number_call(request->operation, request->engine));
        return HOCKET_OK;
    });
}

hocket_status hocket_request_start_all(int count, hocket_request* const requests[]) {
    return guarded([&] {
        require_argument(count >= 0 && (count == 0 || requests != nullptr), "no requests given");
        std::span<hocket_request* const> left(requests, static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < left.size(); ++i) {
            require_argument(left[i] != nullptr, "no request given");
            require_ended(*left[i]);
            require_argument(std::find(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(i), left[i]) ==
                                 left.begin() + static_cast<std::ptrdiff_t>(i),
                             "a request is given twice");
        }
        while (!left.empty()) {
            const std::size_t num = num_fusable(left);
            if (num > 1) {
                start_fused(left.first(num));
            } else {
                start_request(*left.front(), number_call(left.front()->operation, left.front()->engine));
            }
            left = left.subspan(std::max<std::size_t>(num, 1));
        }
        return HOCKET_OK;
    });
}

hocket_status hocket_operation_start(hocket_operation* operation, const hocket_operation_arguments* arguments,
                                     hocket_engine* engine, hocket_request** request) {
    return guarded([&] {
        require_argument(operation != nullptr, "no operation given");
        const hocket_status status = hocket_request_create(operation, arguments, engine, request);
        const std::uint64_t call = number_call(*operation, engine);
        if (status == HOCKET_OK) start_request(**request, call);
        return status;
    });
}

hocket_status hocket_request_test(hocket_request* request, int* done) {
    return guarded([&] {
        require_argument(request != nullptr && done != nullptr, "an argument is NULL");
        if (!request->running().is_done()) request->engine->engine->help();
        *done = request->running().is_done() ? 1 : 0;
        if (*done != 0) record_end(*request);
        return *done != 0 ? result_of(*request) : HOCKET_OK;
    });
}

hocket_status hocket_request_wait(hocket_request* request) {
    return guarded([&] {
        require_argument(request != nullptr, "no request given");
        wait_for(request->engine, request->running());
        record_end(*request);
        return result_of(*request);
    });
}

hocket_status hocket_request_wait_all(int count, hocket_request* const requests[]) {
    const hocket_status good = guarded([&] {
        require_argument(count >= 0 && (count == 0 || requests != nullptr), "no requests given");
        return HOCKET_OK;
    });
    if (good != HOCKET_OK) return good;
    hocket_status first = HOCKET_OK;
    std::string why;
    for (int i = 0; i < count; ++i) {
        const hocket_status status = requests[i] == nullptr ? HOCKET_OK : hocket_request_wait(requests[i]);
        if (status == HOCKET_OK || first != HOCKET_OK) continue;
        first = status;
        why = last_error;
    }
    if (first != HOCKET_OK) last_error = why;
    return first;
}

hocket_status hocket_request_free(hocket_request* request) {
    return guarded([&] {
        const std::unique_ptr<hocket_request> owned(request);
        if (!owned) return HOCKET_OK;
        wait_for(owned->engine, owned->running());
        record_end(*owned);
        if (owned->fused) owned->fused->forget();
        owned->task->unbind();
        hocket_operation& operation = owned->operation;
        if (operation.is_native() && owned->engine != nullptr) --operation.communicator.num_native_requests;
        operation.idle.push_back(std::move(owned->task));
        return HOCKET_OK;
    });
}
