// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "bench/items/outcome.hpp"
#include "common/common_start.hpp"

namespace hocket::bench {

/// The ranks that run a point: the first ones of the launch.
struct Team {
    MPI_Comm pattern = MPI_COMM_NULL;  ///< for the pattern alone; null on ranks that do not take part
    MPI_Comm control = MPI_COMM_NULL;  ///< for the runner
    int rank = 0, ranks = 0;

    std::shared_ptr<CommonStart> agreed;  ///< null: ranks start behind a barrier

    /// Collective over MPI_COMM_WORLD.
    /// @param agrees  ranks start at a time that they agree on: where they do not all have a core, they leave a barrier
    ///                one after another
    static Team make(int ranks, bool agrees);

    /// All ranks come and go together: behind a dissemination barrier [Hensgen88] of our own, the same over all MPIs,
    /// or at the time agreed on. Returns the time from which a sample counts, by this rank's clock.
    [[nodiscard]] std::int64_t start_together() const;
    /// After each start: what this rank took. Returns whether all ranks were in time for an agreed start.
    bool end(std::int64_t took_ns) const;

    /// What the ranks report together: nothing, or the same failure on all of them. A rank that has failed while others
    /// wait for it elsewhere calls `alone(failure)` after a while, which does not return.
    /// @throws Failure
    void agree(const std::optional<Failure>& own, const std::function<void(const Failure&)>& alone) const;
};

}  // namespace hocket::bench
