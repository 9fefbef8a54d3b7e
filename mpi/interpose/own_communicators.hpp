// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <atomic>

namespace hocket::interpose {

/// Communicators of hocket's own beside those of the program. There are few: MPICH has 2048 in all, most of which are left to the
/// program.
class OwnCommunicators {
public:
    /// One with the members of `users`. Collective. False on all ranks if one of them has as many as it may, or if the MPI makes none.
    bool make(MPI_Comm users, MPI_Comm* own);
    void release(MPI_Comm* own);

private:
    static constexpr int max_ = 256;
    std::atomic<int> num_{0};
};

}  // namespace hocket::interpose
