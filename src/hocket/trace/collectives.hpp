// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hocket/trace/trace.hpp"

/// Collective calls, matched over the ranks that took part.
namespace hocket::trace {

/// How a collective was called.
enum class Form : std::uint8_t { blocking, nonblocking, persistent };

struct Collective {
    std::string_view collective;  ///< "bcast", "allgatherv", ...; of static storage
    Form form;
    std::int32_t communicator;
    /// As in lower(): the message, or the block of one rank; 0 for barrier. Where ranks differ, the most: of a
    /// v-variant what one rank contributes.
    std::int64_t bytes;
    std::int64_t mean_bytes;  ///< of a v-variant: what a rank contributes on average, rounded up; else `bytes`
    bool uniform;             ///< all ranks gave the same bytes; never so for a v-variant
    std::int32_t root;        ///< rank in the communicator, -1: none
    std::int32_t op;          ///< -1: none
    std::int32_t datatype;    ///< at the first member
    bool in_place;            ///< at some rank
    std::int64_t first_enter_ns;
    std::int64_t last_enter_ns;
    std::int64_t last_exit_ns;           ///< when the last rank's call returned, or its request was complete
    std::vector<std::int64_t> enter_ns;  ///< by rank in the communicator
    std::vector<std::int64_t> exit_ns;
};

/// "bcast" for MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c, ...; empty if the function is not a collective.
struct CollectiveName {
    std::string_view collective;
    Form form;
};
CollectiveName collective_of(std::string_view function);

/// The collectives on intra-communicators in the order of their first entry. Calls that failed are left out. At the end
/// of a recording that was cut off on some rank, calls without all partners are left out.
/// @throws InvalidInput  if the ranks of a communicator disagree on collective, root or number of calls.
std::vector<Collective> collectives(const Trace&);

}  // namespace hocket::trace
