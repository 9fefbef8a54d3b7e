// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <atomic>

namespace hocket::interpose {

/// To be called by a thread before it makes a communicator for the program, or the first call on one. `from_group`: by
/// MPI_Comm_create_group.
void note_maker(bool from_group = false);

/// Private communicators, which hocket makes beside those of the program. There are few: MPICH has 2048 in all, most of
/// which are left to the program.
class PrivateCommunicators {
public:
    /// One with the members of `program_comm`. Collective. False on all ranks if one of them does not want it or has as
    /// many as it may, if Open MPI may wait for ever, or if the MPI makes none.
    bool make(MPI_Comm program_comm, MPI_Comm* private_comm, bool wanted = true);
    void release(MPI_Comm* private_comm);

private:
    static constexpr int max_ = 256;
    std::atomic<int> num_{0};
};

}  // namespace hocket::interpose
