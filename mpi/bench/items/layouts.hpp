// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// Data with holes in memory: blocks of `block_bytes` at every second place.
struct Layout {
    const char* name;
    const char* what;
    /// A committed type of `blocks` blocks of `block` bytes. @throws Failure
    MPI_Datatype (*make)(int blocks, int block);
};

inline constexpr Option block_option{"block_bytes", "", "8"};

/// @throws Failure  unsupported, if `bytes` are not whole blocks
MPI_Datatype make_type(const Layout& layout, std::int64_t bytes, int block);
/// By name.
const Layout& layout_of(const std::string& name);

/// Where byte `j` of the data is; the same in all layouts.
inline std::size_t place_with_holes(std::size_t j, std::size_t block) { return j / block * 2 * block + j % block; }

}  // namespace hocket::bench
