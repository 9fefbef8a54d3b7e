// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

namespace hocket {

/// Starts a call on all ranks of a communicator at one time, agreed on before [Hunold16]. After a barrier they would
/// start when each leaves it: with more ranks than cores that is 0.1 ms apart and more, as long as a short call takes.
class CommonStart {
public:
    /// Collective. Compares the clocks of hosts.
    explicit CommonStart(MPI_Comm comm);

    /// Collective. Returns at the common start, whose time by this rank's clock it is; also if this rank has missed it.
    double wait();

    struct Time {
        double longest_s;  ///< from the common start until the last rank was done
        bool together;     ///< no rank has missed the start
    };
    /// Collective. Of a call that took `took_s` on this rank.
    Time time(double took_s);

private:
    MPI_Comm comm_;
    double ahead_s_ = 0;  // of rank 0's clock
    double window_s_;     // from the agreement to the start
    bool missed_ = false;
};

}  // namespace hocket
