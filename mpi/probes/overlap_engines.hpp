// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <hocket.h>
#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/overlap_options.hpp"
#include "probes/overlap_transport.hpp"
#include "probes/workload.hpp"

namespace hocket::probes {

/// The engines of hocket.h, each made when it is first needed, and what they carry out.
class Engines {
public:
    Engines() = default;
    Engines(const Engines&) = delete;
    Engines& operator=(const Engines&) = delete;
    /// The transports must be gone.
    ~Engines();

    /// Collective. `workloads` must outlive the result. @throws InvalidInput, Error
    std::unique_ptr<Transport> make_transport(const Carrier& carrier, std::vector<Workload>& workloads,
                                              const OverlapOptions& options, MPI_Comm comm);

private:
    hocket_engine* engine(const std::string& kind, int core);

    std::map<std::string, hocket_engine*> engines_;
};

}  // namespace hocket::probes
