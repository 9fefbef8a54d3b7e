// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hocket.h"
#include "hocket/plan/planned_schedule.hpp"
#include "runtime/collective_task.hpp"
#include "runtime/engine.hpp"
#include "runtime/fused_task.hpp"
#include "runtime/operation.hpp"
#include "selection/exchange.hpp"
#include "selection/selector.hpp"

/// What the handles of hocket.h are.

struct hocket_communicator {
    MPI_Comm private_comm;
    int num_ranks;
    int self;
    std::uint64_t num_calls;
    hocket_engine* native_engine = nullptr;  ///< that the requests of native operations are bound to
    int num_native_requests = 0;             ///< that are bound to it
    bool has_started = false;                ///< a request in an engine; alike on all ranks, as the order of starts is
    bool native_by_queue = false;            ///< native requests were, so that they were the blocking functions
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

struct hocket_selection {
    struct Arm {
        std::string name;
        hocket_operation* operation;
        hocket_engine* engine;
    };
    std::vector<Arm> arms;
    hocket::selection::Selector selector;
    int max_in_flight;
    int num_in_flight = 0;
    MPI_Comm private_comm = MPI_COMM_NULL;  ///< for statements alone: MPI matches them by their order
    hocket::selection::Exchange exchange{{PMPI_Iallreduce, PMPI_Test, PMPI_Wait}};
    std::string report{};
};
