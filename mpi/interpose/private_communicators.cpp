// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/private_communicators.hpp"

#include <utility>

#include "interpose/next.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

namespace {

std::atomic<int> num_makers{0};  // threads
std::atomic<bool> any_from_group{false};

/// Where threads of Open MPI make communicators by MPI_Comm_create_group, one more communicator that a thread makes
/// beside may wait for ever, without hocket too: docs/notebook/mpich-tests.md has such programs.
bool may_wait_for_ever() {
#ifdef OPEN_MPI
    int level = MPI_THREAD_SINGLE;
    return any_from_group.load() && num_makers.load() > 1 && PMPI_Query_thread(&level) == MPI_SUCCESS &&
           level == MPI_THREAD_MULTIPLE;
#else
    return false;
#endif
}

}  // namespace

void note_maker(bool from_group) {
    thread_local bool is_noted = false;
    if (!std::exchange(is_noted, true)) num_makers.fetch_add(1);
    if (from_group) any_from_group.store(true);
}

bool PrivateCommunicators::make(MPI_Comm program_comm, MPI_Comm* private_comm, bool wanted) {
    int can = wanted && num_.load() < max_ && !may_wait_for_ever() ? 1 : 0, all_can = 0;
    if (next.Allreduce(&can, &all_can, 1, MPI_INT, MPI_MIN, program_comm) != MPI_SUCCESS || all_can == 0) return false;
    if (runtime::duplicate(program_comm, private_comm) != MPI_SUCCESS) return false;
    num_.fetch_add(1);
    return true;
}

void PrivateCommunicators::release(MPI_Comm* private_comm) {
    runtime::release(private_comm);
    num_.fetch_sub(1);
}

}  // namespace hocket::interpose
