// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/plan/plan.hpp"
#include "hocket/program/program.hpp"
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
};

struct Replayed {
    Program program;
    double recorded_span_s;  ///< from the first rank's return from MPI_Init to the last one's call of MPI_Finalize
    std::vector<std::string> notes;  ///< what the program leaves out: "12 calls of MPI_Put"
};

/// The recorded program as a Program: what each rank computed between its MPI calls, its messages, and its collectives
/// by the plan, else by the first of `native` that serves them, else by textbook_algorithm(). Messages that were not
/// received before a recording was cut off are left out. Collectives of varying sizes (v-variants) become direct
/// messages, scans a chain; one-sided and neighbourhood communication and collectives on inter-communicators are left
/// out and told in `notes`; file access counts as computation. Calls of other threads than the main one are left out
/// too.
Replayed replay(const Trace&, const Plan& plan = {}, const std::vector<NativeModel>& native = {},
                const ReplayOptions& = {});

}  // namespace hocket::replay
