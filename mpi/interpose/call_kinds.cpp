// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/call_kinds.hpp"

#include <cctype>

namespace hocket::interpose {

namespace {

/// Of those that are no Collective.
constexpr std::array<const char*, num_kinds - place_of(CallKind::allgatherv)> other_names{
    "allgatherv",
    "reduce_scatter",
#define HOCKET_LARGE_FUNCTION(...)
#define HOCKET_FUNCTION(name, ...) #name,
#include "pmpi/counted.inc"
};

}  // namespace

std::string name_of(CallKind kind) {
    if (place_of(kind) < place_of(CallKind::allgatherv)) return std::string(hocket::name_of(server_of(kind)));
    std::string name = other_names[place_of(kind) - place_of(CallKind::allgatherv)];
    name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
    return name;
}

}  // namespace hocket::interpose
