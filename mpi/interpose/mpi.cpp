// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The MPI functions that this library defines, each under its MPI_ and its PMPI_ name. Everything else is the MPI's own.

#include <mpi.h>

#include "interpose/next.hpp"
#include "interpose/reroute.hpp"
#include "interpose/session.hpp"

using hocket::Collective;
using hocket::interpose::is_active;
using hocket::interpose::next;
using hocket::interpose::reroute;
using hocket::interpose::session;
using hocket::runtime::Arguments;
using hocket::runtime::Buffer;

#define HOCKET_DEFINE(name, parameters)                                                                \
    extern "C" __attribute__((visibility("default"))) int MPI_##name parameters;                       \
    extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) int PMPI_##name parameters; \
    extern "C" int MPI_##name parameters

// A collective without entries pays for one look; `native` takes the addresses of the arguments, which would cost it more.
#define HOCKET_NATIVE_UNLESS_ACTIVE(collective, call)    \
    if (!is_active(Collective::collective)) return call; \
    const auto native = [&] { return call; };

namespace {
Buffer buffer_of(const void* address, std::int64_t count, MPI_Datatype type) {
    return {const_cast<void*>(address), count, type};  // only read
}
}  // namespace

#define HOCKET_COUNT int
#define HOCKET_MPI(name, parameters) HOCKET_DEFINE(name, parameters)
#define HOCKET_NEXT(name) next.name
#include "interpose/collectives.inc"
#undef HOCKET_COUNT
#undef HOCKET_MPI
#undef HOCKET_NEXT

#if MPI_VERSION >= 4
#define HOCKET_COUNT MPI_Count
#define HOCKET_MPI(name, parameters) HOCKET_DEFINE(name##_c, parameters)
#define HOCKET_NEXT(name) next.name##_c
#include "interpose/collectives.inc"
#endif

HOCKET_DEFINE(Barrier, (MPI_Comm comm)) {
    HOCKET_NATIVE_UNLESS_ACTIVE(barrier, next.Barrier(comm))
    return reroute({Collective::barrier, {}, 0, comm}, native);
}

HOCKET_DEFINE(Init, (int* argc, char*** argv)) {
    const int code = next.Init(argc, argv);
    if (code == MPI_SUCCESS) session.start();
    return code;
}

HOCKET_DEFINE(Init_thread, (int* argc, char*** argv, int required, int* provided)) {
    const int code = next.Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) session.start();
    return code;
}

HOCKET_DEFINE(Finalize, (void)) {
    session.stop();
    return next.Finalize();
}
