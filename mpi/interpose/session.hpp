// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

#include "hocket/plan/plan.hpp"

namespace hocket::interpose {

/// Starts and stops all the rest. What it does holds between the end of MPI_Init and the beginning of MPI_Finalize.
class Session {
public:
    /// After MPI_Init. Collective over the world. `program_level` is the thread level that the program knows of.
    void start(int program_level);
    /// Reroutes calls from now on: what start() does once it has read plan and settings, and hocket-compare without
    /// these.
    void use(Plan plan);
    /// After MPI_Session_init, which is not collective and makes no world.
    void report_without_world(int world_rank);
    /// Before MPI_Finalize. Collective over the world.
    void stop();

private:
    void start_plan(int world_rank, const std::string& text);
    void start_progress(int world_rank, int program_level);

    bool has_communicators_ = false;
};

/// Not destroyed, since other threads may still run when the process ends.
extern Session& session;

}  // namespace hocket::interpose
