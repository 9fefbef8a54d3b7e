// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/plan/plan.hpp"
#include "hocket/program/program.hpp"
#include "hocket/program/what_if.hpp"
#include "hocket/replay/call_ops.hpp"
#include "hocket/replay/left_out.hpp"
#include "hocket/trace/trace.hpp"

namespace hocket::replay {

/// What stands for the MPI's own algorithm in the calls that `entry` serves, with their bytes times `scale`.
struct NativeModel {
    PlanEntry entry;
    double scale;
};

struct ReplayOptions {
    bool cpu_time = false;             ///< between MPI calls count CPU time instead of wall time
    std::int64_t eager_bytes = 65536;  ///< a blocking send of fewer bytes returns before it is received
    /// Computations of more are divided into ops of this length, one after another: between them other ranks that share
    /// the core have their turns. 0 = none is divided.
    double time_slice_s = 0;
    bool call_ops = false;  ///< fill Replayed::call_ops
    WhatIf what_if = {};    ///< changes of what ranks compute
};

struct Replayed {
    Program program;
    double recorded_span_s;  ///< from the first rank's return from MPI_Init to the last one's call of MPI_Finalize
    std::vector<LeftOut> left_out;       ///< what the program lacks
    std::int64_t start_ns = 0;           ///< the instant of the trace at which the program starts
    std::vector<CallOps> call_ops = {};  ///< [rank], if asked for
};

/// The recorded program as a Program: what each rank computed between its MPI calls, its messages, and its collectives
/// by the plan, else by the first of `native` that serves them, else by collectives::textbook_algorithm().
///
/// Wildcards are those that the recorded run met. Collectives of varying sizes (v-variants) and with neighbours become
/// direct messages, scans a chain; those of an inter-communicator run within each group and between their ranks 0. A
/// partitioned message leaves when its last partition is ready. File access counts as computation. One-sided calls: see
/// OneSided.
///
/// `left_out` has what else moves data: calls of other threads than the main one, calls that failed, messages that were
/// not received before a recording was cut off, the making of communicators and windows, and partners or sizes that the
/// trace does not tell.
Replayed replay(const Trace&, const Plan& plan = {}, const std::vector<NativeModel>& native = {},
                const ReplayOptions& = {});

}  // namespace hocket::replay
