// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/memory.hpp"

namespace hocket::probes {

/// Buffers for one collective call, filled with numbers that every order of summation adds exactly.
class Workload {
public:
    /// `bytes` as in PlanEntry. The element is the largest of 8, 4 and 1 bytes that divides it.
    Workload(const runtime::Role& role, std::int64_t bytes, std::uint32_t seed);

    /// Puts the input back, since a bcast is its own output.
    void refill();
    [[nodiscard]] runtime::Arguments arguments();
    /// The MPI's own function. Returns its error code.
    int call_native(MPI_Comm comm);
    /// The MPI's own non-blocking function. Returns its error code.
    int start_native(MPI_Comm comm, MPI_Request* request);
    /// What the call has left on this rank.
    [[nodiscard]] const std::vector<char>& received() const { return recv_; }

private:
    [[nodiscard]] MPI_Op op() const;
    void fill(std::vector<char>& buffer, std::uint32_t seed) const;

    runtime::Role role_;
    std::uint32_t seed_;
    int element_bytes_;
    MPI_Datatype type_;
    std::int64_t block_elements_;
    std::vector<char> send_, recv_;
};

}  // namespace hocket::probes
