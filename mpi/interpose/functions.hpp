// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstddef>

namespace hocket::interpose {

/// What starts communication that may progress in the background. A persistent collective counts as its non-blocking
/// one.
enum class Function {
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) name,
#include "pmpi/nonblocking.inc"
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) name,
#include "pmpi/message.inc"
    count
};
constexpr std::size_t num_functions = static_cast<std::size_t>(Function::count);

constexpr std::array<const char*, num_functions> function_names{
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) "MPI_" #name,
#include "pmpi/nonblocking.inc"
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) "MPI_" #name,
#include "pmpi/message.inc"
};

}  // namespace hocket::interpose
