// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include "hocket/schedule/schedule.hpp"
#include "runtime/memory.hpp"

namespace hocket::interpose {

/// One call of the program. The buffer of bcast is `arguments.recv`.
struct Call {
    Collective collective;
    runtime::Arguments arguments;
    int root;
    MPI_Comm comm;
};

}  // namespace hocket::interpose
