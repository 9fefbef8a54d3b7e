// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hocket/program/program.hpp"
#include "hocket/schedule/schedule.hpp"
#include "hocket/trace/trace.hpp"

namespace hocket::replay {

/// A schedule for some of the collective calls: an entry of a plan, or what stands for the MPI's own algorithm.
struct Rule {
    Collective collective;
    std::vector<std::int32_t> members;  ///< world ranks in communicator order
    std::int64_t bytes_min = 0, bytes_max = std::numeric_limits<std::int64_t>::max();
    std::optional<Rank> root;  ///< none = any root
    std::string algorithm;
    std::int32_t pieces = 1;
    std::int64_t segment_bytes = 0;  ///< if not 0, the most that a segment has, instead of `pieces`
    std::vector<Rank> order;
    std::optional<Schedule> custom;  ///< instead of algorithm, pieces and order
    double scale = 1;                ///< of the bytes that are simulated
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
/// by the first rule that serves them, else by textbook_algorithm(). Messages that were not received before a recording
/// was cut off are left out. Collectives of varying sizes (v-variants) become direct messages, scans a chain; one-sided
/// and neighbourhood communication and collectives on inter-communicators are left out and told in `notes`; file access
/// counts as computation. Calls of other threads than the main one are left out too.
Replayed replay(const Trace&, const std::vector<Rule>& rules = {}, const ReplayOptions& = {});

}  // namespace hocket::replay
