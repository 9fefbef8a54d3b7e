// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "hocket.h"
#include "hocket/base/error.hpp"
#include "hocket/plan/planned_schedule.hpp"
#include "runtime/collective_task.hpp"
#include "runtime/engine.hpp"
#include "runtime/fused_task.hpp"
#include "runtime/operation.hpp"

/// What the handles of hocket.h are.

struct hocket_communicator {
    MPI_Comm own;
    int num_ranks;
    int self;
    std::uint64_t num_calls;
    hocket_engine* native_engine = nullptr;  ///< that the requests of native operations are bound to
    int num_native_requests = 0;             ///< that are bound to it
    bool has_started_native = false;         ///< alike on all ranks, as the order of starts is
    bool native_by_queue = false;            ///< so that they were the blocking functions
};

struct hocket_engine {
    std::unique_ptr<hocket::runtime::Engine> engine;
    bool has_thread;
    bool is_queue;
};

struct hocket_operation {
    hocket_communicator& communicator;
    hocket::runtime::Role role;
    std::optional<hocket::PlannedSchedule> schedule;          ///< none if native
    std::shared_ptr<const hocket::runtime::RankGraph> graph;  ///< null if native
    hocket::runtime::NativeCollective native;                 ///< if native
    std::unique_ptr<hocket::runtime::Operation> blocking;     ///< for hocket_operation_execute, made when needed
    std::vector<std::unique_ptr<hocket::runtime::CollectiveTask>> idle;  ///< of requests that were freed

    [[nodiscard]] bool is_native() const { return graph == nullptr; }
};

struct hocket_request {
    hocket_operation& operation;
    hocket_engine* engine;  ///< null if it ended in its start
    std::unique_ptr<hocket::runtime::CollectiveTask> task;
    std::shared_ptr<hocket::runtime::FusedTask> fused{};  ///< of the last start, if it was one with others
    bool is_fused = false;                                ///< whether it was
    hocket_selection* selection = nullptr;                ///< that wants to know how long it takes, until it has ended
    std::size_t arm = 0;
    std::int64_t started_ns = 0;

    [[nodiscard]] const hocket::runtime::Task& running() const {
        return is_fused ? static_cast<const hocket::runtime::Task&>(*fused) : *task;
    }
    [[nodiscard]] int error() const { return is_fused ? fused->error() : task->error(); }
};

namespace hocket::runtime {

inline thread_local std::string last_error;
inline thread_local int last_mpi_error = MPI_SUCCESS;

struct MpiFailure {
    int code;
};

inline void require(int code) {
    if (code != MPI_SUCCESS) throw MpiFailure{code};
}

inline void require_argument(bool good, const char* what) {
    if (!good) throw InvalidInput(what);
}

inline hocket_status fail(hocket_status status) {
    last_error = hocket_status_string(status);
    return status;
}

/// Turns whatever `work` throws into a status.
template <class Work>
hocket_status guarded(Work work) noexcept {
    try {
        return work();
    } catch (const InvalidInput& error) {
        last_error = error.what();
        return HOCKET_ERROR_INVALID;
    } catch (const MpiFailure& failure) {
        char text[MPI_MAX_ERROR_STRING + 1] = "";
        int length = 0;
        PMPI_Error_string(failure.code, text, &length);
        last_mpi_error = failure.code;
        last_error = text;
        return HOCKET_ERROR_MPI;
    } catch (const std::bad_alloc&) {
        last_error = "out of memory";
        return HOCKET_ERROR_MEMORY;
    } catch (const std::exception& error) {
        last_error = error.what();
        return HOCKET_ERROR_INTERNAL;
    }
}

/// Reads and checks the arguments of a call of `operation`. HOCKET_ERROR_ORDER if its schedule must not be used for them.
hocket_status read_arguments(const hocket_operation& operation, const hocket_operation_arguments& given,
                             Arguments& arguments, BlockArguments& blocks);

/// Until `task` is done. Meanwhile what is pending in engines without a thread moves on too: another rank may wait for that first.
void wait_for(hocket_engine* engine, const Task& task);
/// Until nothing is pending in it; also meanwhile.
void drain(hocket_engine& engine);
/// The request has ended: tells its selection.
void note_end(hocket_request& request);
/// hocket_request_create and hocket_request_start; `engine` may be null.
hocket_status create_request(hocket_operation* operation, const hocket_operation_arguments* arguments,
                             hocket_engine* engine, hocket_request** request);
void start_request(hocket_request& request, std::uint64_t call);
/// The number of the call that begins now, alike on all ranks: it counts also where it is wrong on this rank alone.
std::uint64_t number_call(const hocket_operation& operation, const hocket_engine* engine);
/// Moves on what is pending in engines without a thread. True if anything moved.
bool help_all();
/// Whether anything is pending that moves on in the calls of the program alone.
bool needs_help();
/// A blocking call during which all that moves on. Returns an MPI error code.
int execute_helping(hocket_operation& operation, const Arguments& arguments, const BlockArguments& blocks,
                    std::uint64_t call);
/// One of a request that was freed, or a new one.
std::unique_ptr<CollectiveTask> take_task(hocket_operation& operation);

}  // namespace hocket::runtime
