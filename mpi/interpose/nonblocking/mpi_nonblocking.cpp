// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPI functions that start communication which may progress in the background.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "interpose/mpi_define.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/call_of.hpp"
#include "interpose/nonblocking/planned_calls.hpp"
#include "interpose/nonblocking/progress.hpp"
#include "interpose/nonblocking/sizes.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/private_communicators.hpp"

using hocket::interpose::Block;
using hocket::interpose::Blocks;
using hocket::interpose::Call;
using hocket::interpose::call_of;
using hocket::interpose::Combined;
using hocket::interpose::CombinedBlocks;
using hocket::interpose::depth;
using hocket::interpose::Function;
using hocket::interpose::Inside;
using hocket::interpose::is_active;
using hocket::interpose::is_progress_on;
using hocket::interpose::next;
using hocket::interpose::NoBlock;
using hocket::interpose::note_maker;
using hocket::interpose::OwnBlock;
using hocket::interpose::plan_call;
using hocket::interpose::plan_is_in_background;
using hocket::interpose::plan_persistent;
using hocket::interpose::PlannedCall;
using hocket::interpose::progress;
using hocket::interpose::Started;
using hocket::interpose::TrackedRequest;

namespace {

// Of inter-communicators it depends on the root what matters.
bool is_inter(MPI_Comm comm) {
    int inter = 0;
    return PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0;
}

/// The communicator is the parameter before the `num_after` last ones.
template <class Size, std::size_t num_after, class... Arguments>
__attribute__((noinline)) Started describe(Function function, Arguments... arguments) {
    const std::tuple<Arguments...> all{arguments...};
    const MPI_Comm comm = std::get<sizeof...(Arguments) - num_after - 1>(all);
    Started started{function, comm, is_inter(comm) ? 0 : Size::bytes(all, comm)};
    if constexpr (Size::op != hocket::interpose::no_operator) started.op = std::get<Size::op>(all);
    return started;
}

/// Where an error handler of the program's returns, MPICH 5.0 returns MPI_SUCCESS and has made no request.
MPI_Request* cleared(MPI_Request* request) {
    if (request != nullptr) *request = MPI_REQUEST_NULL;
    return request;
}

bool is_to_adopt(int code, const MPI_Request* request) {
    return code == MPI_SUCCESS && depth == 0 && request != nullptr && *request != MPI_REQUEST_NULL;
}

/// A call that the plan may have something for.
template <Function function, class... Arguments>
std::optional<Call> plannable(const std::tuple<Arguments...>& all) {
    std::optional<Call> call = call_of<function>(all);
    if (!call || depth > 0 || !plan_is_in_background.load(std::memory_order_relaxed) || !is_active(call->collective))
        return {};
    return call;
}

/// Instead of the MPI's own function, if the plan has something for it; else nothing.
template <Function function, class... Arguments>
std::optional<int> start_planned(const std::tuple<Arguments...>& all) {
    const std::optional<Call> call = plannable<function>(all);
    if (!call) return {};
    int code = MPI_SUCCESS;
    {
        const Inside inside;
        std::unique_ptr<PlannedCall> planned = plan_call(*call, &code);
        if (!planned && code == MPI_SUCCESS) return {};
        if (planned) code = progress.launch(std::move(planned), function, std::get<sizeof...(Arguments) - 1>(all));
    }
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call->comm, code);
    return code;
}

template <Function function, class Size, class... Arguments>
int start_collective(int (*call)(Arguments...), Arguments... arguments) {
    const std::tuple<Arguments...> all{arguments...};
    if (const auto code = start_planned<function>(all)) return *code;
    MPI_Request* const request = cleared(std::get<sizeof...(Arguments) - 1>(all));
    if constexpr (Size::op != hocket::interpose::no_operator) {
        if (depth == 0 && !progress.is_for_any_thread(std::get<Size::op>(all)))
            return progress.start_alone(TrackedRequest::alone, [&] { return call(arguments...); }, request);
    }
    const int code = call(arguments...);
    if (is_to_adopt(code, request)) progress.adopt(describe<Size, 1>(function, arguments...), request);
    return code;
}

template <Function function, class Size, class... Arguments>
int make_persistent(int (*call)(Arguments...), Arguments... arguments) {
    const std::tuple<Arguments...> all{arguments...};
    const MPI_Request* const request = cleared(std::get<sizeof...(Arguments) - 1>(all));
    const int code = call(arguments...);
    if (!is_to_adopt(code, request)) return code;  // what the MPI refuses is no call: a rank may be alone with it
    std::unique_ptr<PlannedCall> planned;
    if (const std::optional<Call> made = plannable<function>(all)) {
        const Inside inside;
        planned = plan_persistent(*made);
    }
    progress.adopt_persistent(describe<Size, 2>(function, arguments...), std::move(planned), *request);
    return code;
}

template <Function function, class Size, class... Arguments>
int start_message(int (*call)(Arguments...), Arguments... arguments) {
    const std::tuple<Arguments...> all{arguments...};
    const MPI_Request* const request = cleared(std::get<sizeof...(Arguments) - 1>(all));
    const int code = call(arguments...);
    const MPI_Comm comm = std::get<sizeof...(Arguments) - 2>(all);
    if (is_to_adopt(code, request)) progress.adopt_message({function, comm, Size::bytes(all, comm)}, *request);
    return code;
}

/// The collectives that it makes are native on all ranks, here and when the request is completed. The program's thread
/// keeps the lock of MPICH while it completes the request, so that the engine's could not move them on.
template <class... Arguments>
int start_file(int (*call)(Arguments...), Arguments... arguments) {
    if (depth > 0) return call(arguments...);
    MPI_Request* const request = cleared(std::get<sizeof...(Arguments) - 1>(std::tuple{arguments...}));
    int code = MPI_SUCCESS;
    {
        const Inside inside;
        code = call(arguments...);
    }
    if (is_to_adopt(code, request)) progress.adopt_file(*request);
    return code;
}

template <class... Arguments>
int make_later(int (*call)(Arguments...), Arguments... arguments) {
    if (depth > 0) return call(arguments...);
    note_maker();
    MPI_Request* const request = cleared(std::get<sizeof...(Arguments) - 1>(std::tuple{arguments...}));
    return progress.start_alone(TrackedRequest::duplicate, [&] { return call(arguments...); }, request);
}

}  // namespace

// `how` starts it and has it watched.
#define HOCKET_STARTING(how, name, function, parameters, arguments, ...)                      \
    HOCKET_DEFINE(name, parameters) {                                                         \
        if (!is_progress_on()) return next.name arguments;                                    \
        return how<Function::function, __VA_ARGS__>(next.name, HOCKET_UNBRACKETED arguments); \
    }
#define HOCKET_FUNCTION(...) HOCKET_STARTING(start_collective, __VA_ARGS__)
#include "pmpi/nonblocking.inc"
#define HOCKET_FUNCTION(...) HOCKET_STARTING(make_persistent, __VA_ARGS__)
#include "pmpi/persistent.inc"
#define HOCKET_FUNCTION(...) HOCKET_STARTING(start_message, __VA_ARGS__)
#include "pmpi/message.inc"
#define HOCKET_LATER(how, name, function, parameters, arguments, ...) \
    HOCKET_DEFINE(name, parameters) {                                 \
        if (!is_progress_on()) return next.name arguments;            \
        return how(next.name, HOCKET_UNBRACKETED arguments);          \
    }
#define HOCKET_FUNCTION(...) HOCKET_LATER(make_later, __VA_ARGS__)
#include "pmpi/later_maker.inc"
#define HOCKET_FUNCTION(...) HOCKET_LATER(start_file, __VA_ARGS__)
#include "pmpi/file.inc"
