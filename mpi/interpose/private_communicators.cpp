// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/private_communicators.hpp"

#include "interpose/next.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

bool PrivateCommunicators::make(MPI_Comm program_comm, MPI_Comm* private_comm) {
    int has_room = num_.load() < max_ ? 1 : 0, all_have = 0;
    if (next.Allreduce(&has_room, &all_have, 1, MPI_INT, MPI_MIN, program_comm) != MPI_SUCCESS || all_have == 0)
        return false;
    if (runtime::duplicate(program_comm, private_comm) != MPI_SUCCESS) return false;
    num_.fetch_add(1);
    return true;
}

void PrivateCommunicators::release(MPI_Comm* private_comm) {
    runtime::release(private_comm);
    num_.fetch_sub(1);
}

}  // namespace hocket::interpose
