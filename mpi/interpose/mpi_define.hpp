// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

/// Begins the definition of MPI_name, which PMPI_name is too.
#define HOCKET_DEFINE(name, parameters)                                                                \
    extern "C" __attribute__((visibility("default"))) int MPI_##name parameters;                       \
    extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) int PMPI_##name parameters; \
    extern "C" int MPI_##name parameters

/// The arguments, without the brackets in which mpi/pmpi gives them.
#define HOCKET_UNBRACKETED(...) __VA_ARGS__
