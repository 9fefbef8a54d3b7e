// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "probes/overlap_modes.hpp"
#include "probes/workload.hpp"

namespace hocket::probes {

/// One collective or several at once, each with buffers of its own, carried out in one way any number of times.
class Transport {
public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    virtual void start() = 0;
    /// Lets the collectives move on in this call; does not wait.
    virtual void test() = 0;
    virtual void wait() = 0;
    /// Whether it still tries ways of its own; alike on all ranks.
    [[nodiscard]] virtual bool is_settled() const { return true; }
    /// What it has found, as JSON; empty if it has nothing to find.
    [[nodiscard]] virtual std::string report() const { return ""; }
};

/// By MPI alone: blocking or non-blocking. `workloads` must outlive the result.
std::unique_ptr<Transport> make_mpi_transport(bool blocking, std::vector<Workload>& workloads, MPI_Comm comm);

}  // namespace hocket::probes
