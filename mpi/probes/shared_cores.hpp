// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <string>

namespace hocket::probes {

/// Whether ranks share cores, and whether the MPI yields a core while it waits. Of the machine with the most ranks for
/// each core, as a JSON object on rank 0 (docs/explanation/measuring.md); "null" where no machine has more ranks than
/// cores. Collective.
std::string shared_cores(MPI_Comm comm);

}  // namespace hocket::probes
