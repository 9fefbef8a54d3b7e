// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPI functions that make and free communicators. All members are in the call, as they never need be when they start a
// non-blocking collective.

#include <mpi.h>

#include <cstddef>
#include <string_view>
#include <tuple>

#include "interpose/communicators.hpp"
#include "interpose/inside.hpp"
#include "interpose/mpi_define.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/planned_calls.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/private_communicators.hpp"

namespace {

using hocket::interpose::next;

template <class... Arguments>
int make_communicator(std::string_view name, int (*call)(Arguments...), Arguments... arguments) {
    if (hocket::interpose::depth == 0) hocket::interpose::note_maker(name == "Comm_create_group");
    const int code = call(arguments...);
    if (hocket::interpose::depth > 0 || !hocket::interpose::plan_is_in_background.load(std::memory_order_relaxed))
        return code;
    const MPI_Comm* const made = std::get<sizeof...(Arguments) - 1>(std::tuple{arguments...});
    // An MPI that finds no place for it reports it to its error handler, which may return.
    if (code != MPI_SUCCESS || made == nullptr || *made == MPI_COMM_NULL) return code;
    const hocket::interpose::Inside inside;
    hocket::interpose::open_queue(*made);
    return code;
}

int free_communicator(int (*call)(MPI_Comm*), MPI_Comm* comm) {
    const int code = call(comm);
    if (hocket::interpose::depth > 0) return code;
    const hocket::interpose::Inside inside;
    hocket::interpose::release_forgotten();
    return code;
}

}  // namespace

#define HOCKET_FUNCTION(name, function, parameters, arguments, ...) \
    HOCKET_DEFINE(name, parameters) { return make_communicator(#name, next.name, HOCKET_UNBRACKETED arguments); }
#include "pmpi/maker.inc"

HOCKET_DEFINE(Comm_free, (MPI_Comm * comm)) { return free_communicator(next.Comm_free, comm); }
HOCKET_DEFINE(Comm_disconnect, (MPI_Comm * comm)) { return free_communicator(next.Comm_disconnect, comm); }
