// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "hocket/interop/recorder.hpp"
#include "hocket/interop/source.hpp"

namespace hocket::interop {

struct TiType {
    std::string_view name;  ///< as in MPI
    std::int64_t bytes;
};
/// By their number in a trace (smpi_datatype.cpp of SimGrid 4); without a name: not used.
extern const std::array<TiType, 60> ti_types;

/// Time-independent traces of SimGrid: one file a rank, or several ranks in one file. Each line names its rank. A rank
/// computes amounts of flops, at `flops_per_s`; calls themselves take no time. All is on MPI_COMM_WORLD: the format has
/// no other communicators.
/// @throws InvalidInput  naming the file and the line.
ForeignTrace read_simgrid_ti(std::span<const Source> files, double flops_per_s);

}  // namespace hocket::interop
