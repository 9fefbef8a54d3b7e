// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

namespace hocket::bench {

/// So many that windows which the MPI allocates are whole cache lines: of 8 bytes MPICH 4.0 loses what is put into
/// them, of 16 not. `rma.win_allocate` shows that.
inline MPI_Aint whole_lines(MPI_Aint bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace hocket::bench
