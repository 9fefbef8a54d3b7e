// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The MPI functions that this library defines, each under its MPI_ and its PMPI_ name. Everything else is the MPI's
// own.

#include <mpi.h>

#include "interpose/blocking/reroute.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/call_kinds.hpp"
#include "interpose/mpi_define.hpp"
#include "interpose/next.hpp"
#include "interpose/plan_in_force.hpp"

using hocket::Collective;
using hocket::interpose::CallKind;
using hocket::interpose::count_native;
using hocket::interpose::is_active;
using hocket::interpose::next;
using hocket::interpose::reroute;
using hocket::interpose::served;
using hocket::runtime::Arguments;
using hocket::runtime::Buffer;
using hocket::runtime::UnevenBlocks;

// A collective without entries pays for one look; `native` takes the addresses of the arguments, which would cost it
// more.
#define HOCKET_NATIVE_UNLESS_ACTIVE(collective, call)    \
    if (!is_active(Collective::collective)) return call; \
    const auto native = [&] { return call; };

namespace {
Buffer buffer_of(const void* address, std::int64_t count, MPI_Datatype type) {
    return {const_cast<void*>(address), count, type};  // only read
}
}  // namespace

#define HOCKET_COUNT int
#define HOCKET_PLACE int
#define HOCKET_MPI(name, parameters) HOCKET_DEFINE(name, parameters)
#define HOCKET_NEXT(name) next.name
#include "interpose/collectives.inc"
#undef HOCKET_COUNT
#undef HOCKET_PLACE
#undef HOCKET_MPI
#undef HOCKET_NEXT

#if MPI_VERSION >= 4
#define HOCKET_COUNT MPI_Count
#define HOCKET_PLACE MPI_Aint
#define HOCKET_MPI(name, parameters) HOCKET_DEFINE(name##_c, parameters)
#define HOCKET_NEXT(name) next.name##_c
#include "interpose/collectives.inc"
#endif

HOCKET_DEFINE(Barrier, (MPI_Comm comm)) {
    HOCKET_NATIVE_UNLESS_ACTIVE(barrier, next.Barrier(comm))
    return reroute({Collective::barrier, {}, 0, comm}, native);
}

// No schedule serves these. They are counted, so that a program's user sees what they take.
#define HOCKET_FUNCTION(name, function, parameters, arguments, ...)                   \
    HOCKET_DEFINE(name, parameters) {                                                 \
        if (!served.counts_calls()) return next.name arguments;                       \
        return count_native(CallKind::function, [&] { return next.name arguments; }); \
    }
#include "pmpi/counted.inc"
