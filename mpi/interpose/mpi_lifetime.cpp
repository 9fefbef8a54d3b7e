// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The MPI functions between which this library does anything, and those that report the thread level, which it may
// raise.

#include <mpi.h>

#include <algorithm>
#include <atomic>

#include "common/other_abi.h"
#include "interpose/mpi_define.hpp"
#include "interpose/next.hpp"
#include "interpose/session.hpp"
#include "interpose/settings.hpp"

using hocket::interpose::next;
using hocket::interpose::session;
using hocket::interpose::wants_progress;

namespace {

constexpr int as_it_is = -1;
std::atomic<int> program_level{as_it_is};  ///< the level reported to the program, where the MPI has another level

}  // namespace

HOCKET_DEFINE(Init, (int* argc, char*** argv)) {
    if (!wants_progress()) {
        const int code = next.Init(argc, argv);
        if (code == MPI_SUCCESS) session.start(MPI_THREAD_SINGLE);
        return code;
    }
    int provided = MPI_THREAD_SINGLE;
    const int code = next.Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (code != MPI_SUCCESS) return code;
    program_level.store(MPI_THREAD_SINGLE);
    session.start(MPI_THREAD_SINGLE);
    return code;
}

HOCKET_DEFINE(Init_thread, (int* argc, char*** argv, int required, int* provided)) {
    const bool raises = wants_progress() && required >= MPI_THREAD_SINGLE && required < MPI_THREAD_MULTIPLE;
    const int code = next.Init_thread(argc, argv, raises ? MPI_THREAD_MULTIPLE : required, provided);
    if (code != MPI_SUCCESS) return code;
    if (raises) {
        *provided = std::min(*provided, required);
        program_level.store(*provided);
    }
    session.start(*provided);
    return code;
}

HOCKET_DEFINE(Query_thread, (int* provided)) {
    const int level = program_level.load(std::memory_order_relaxed);
    if (level == as_it_is) return next.Query_thread(provided);
    *provided = level;
    return MPI_SUCCESS;
}

HOCKET_DEFINE(Finalize, (void)) {
    session.stop();
    return next.Finalize();
}

namespace {

/// With the arguments of MPI_Session_init, which has begun the session that the last one points to. A template, since
/// an MPI without sessions declares none of what it names.
template <typename Info, typename Handler, typename Handle>
void report_session(Info /*info*/, Handler /*handler*/, Handle* session_begun) {
    MPI_Group world = MPI_GROUP_NULL;
    int rank = 0;
    if (PMPI_Group_from_session_pset(*session_begun, "mpi://WORLD", &world) != MPI_SUCCESS) return;
    PMPI_Group_rank(world, &rank);
    PMPI_Group_free(&world);
    session.report_without_world(rank);
}

}  // namespace

// mpi.h calls a parameter `session`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#define HOCKET_FUNCTION(name, function, parameters, arguments, ...) \
    HOCKET_DEFINE(name, parameters) {                               \
        const int code = next.name arguments;                       \
        if (code == MPI_SUCCESS) report_session arguments;          \
        return code;                                                \
    }
#include "pmpi/session.inc"
#pragma GCC diagnostic pop
