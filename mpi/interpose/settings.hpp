// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>

#include "runtime/engine.hpp"

namespace hocket::interpose {

enum class ProgressMode : std::uint8_t { off, on, automatic };

/// What the user asks for by the environment. World rank 0 alone reads it, and the plan, so that all ranks have the
/// same whatever their environment and file systems.
///   HOCKET_PLAN        absolute path of the plan
///   HOCKET_NETWORK     absolute path of the network file that decisions are made from
///   HOCKET_DECISIONS   absolute path of the folder where jobs leave what they have decided and found, for this hocket
///   HOCKET_VERBOSE=1   print at the end how often each entry was used
///   HOCKET_SUMMARY=1   print at the end how much of the program's calls the plan served
///   HOCKET_SELF_CHECK  off = do not look whether entries have become slower than the MPI's own functions
///   HOCKET_EVIDENCE    off = do not count on what was measured when the plan was made: it was with another MPI
///   HOCKET_PROGRESS    off, on, auto: whether non-blocking communication progresses in the background (progress.hpp)
///   HOCKET_PROGRESS_CORE  where its thread runs: any, idle or the number of a core
///   HOCKET_STATISTICS  path of a JSON file with the same, format "hocket.statistics/1"
struct Settings {
    std::string plan_text;     ///< empty: no plan, or none that can be read
    std::string network_text;  ///< the same of a network
    std::string network_path;
    std::string decisions_path;
    std::string mpi;  ///< that of rank 0: all ranks decide alike also where their libraries differ
    bool checks_itself = true;
    bool ignores_evidence = false;
    bool logs = false;     ///< lines for people
    bool reports = false;  ///< statistics at the end, for people or programs
    ProgressMode progress = ProgressMode::off;
    int progress_core = runtime::any_core;

    // On world rank 0 alone.
    std::string plan_path, statistics_path;
    bool logs_each = false;  ///< each entry of the plan and each function
    bool logs_summary = false;
};

/// Those in force. Session sets them when the program starts; the defaults hold until then. Not destroyed, since other
/// threads may still run when the process ends.
extern Settings& settings;

/// After MPI_Init. Collective over the world.
Settings read_settings(int world_rank);

/// Whether this process's environment asks for progress: only then its MPI gets a thread level above the program's own.
bool wants_progress();

/// Whether it asks for that, for a plan's schedules or for a network's.
bool asks_for_anything();

}  // namespace hocket::interpose
