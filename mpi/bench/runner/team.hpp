// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <optional>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

/// The ranks that run a point: the first ones of the launch.
struct Team {
    MPI_Comm pattern = MPI_COMM_NULL;  ///< for the pattern alone; null on ranks that do not take part
    MPI_Comm control = MPI_COMM_NULL;  ///< for the runner
    int rank = 0, ranks = 0;

    /// Collective over MPI_COMM_WORLD.
    static Team make(int ranks);

    /// All ranks come and go together: a dissemination barrier [Hensgen88] of our own, the same over all MPIs.
    void start_together() const;

    /// What the ranks say together: nothing, or the same failure on all of them. A rank that has failed while others
    /// wait for it elsewhere calls `alone(failure)` after a while, which does not return.
    /// @throws Failure
    void agree(const std::optional<Failure>& own, const std::function<void(const Failure&)>& alone) const;
};

}  // namespace hocket::bench
