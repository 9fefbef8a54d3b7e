// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

namespace hocket::interpose {

/// The functions of the next library in the search order (a tool's, or the MPI's own), those of
/// mpi/pmpi/interposed.txt. Fortran bindings reach MPI by PMPI_X as well as by MPI_X, so this library defines both and
/// calls these.
struct Next {
    Next();
#define HOCKET_FUNCTION(name) decltype(&PMPI_##name) name;
#include "pmpi/next_functions.inc"
};

extern const Next next;

}  // namespace hocket::interpose
