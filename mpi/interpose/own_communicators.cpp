// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/own_communicators.hpp"

#include "interpose/next.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

bool OwnCommunicators::make(MPI_Comm users, MPI_Comm* own) {
    int has_room = num_.load() < max_ ? 1 : 0, all_have = 0;
    if (next.Allreduce(&has_room, &all_have, 1, MPI_INT, MPI_MIN, users) != MPI_SUCCESS || all_have == 0) return false;
    if (runtime::duplicate(users, own) != MPI_SUCCESS) return false;
    num_.fetch_add(1);
    return true;
}

void OwnCommunicators::release(MPI_Comm* own) {
    runtime::release(own);
    num_.fetch_sub(1);
}

}  // namespace hocket::interpose
