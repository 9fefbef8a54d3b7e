// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/call_kinds.hpp"

#include <cctype>

namespace hocket::interpose {

namespace {

constexpr std::array<const char*, num_kinds> kind_names{
    "bcast",   "reduce", "allreduce", "allgather",  "alltoall",       "reduce_scatter_block",
    "scatter", "gather", "barrier",   "allgatherv", "reduce_scatter",
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) #name,
#include "pmpi/counted.inc"
};

}  // namespace

std::string name_of(CallKind kind) {
    std::string name = kind_names[place_of(kind)];
    name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
    return name;
}

}  // namespace hocket::interpose
