// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/entry_counts.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "interpose/log.hpp"
#include "interpose/settings.hpp"

namespace hocket::interpose {

EntryCounts& entry_counts = *new EntryCounts;

std::string describe(CallKind kind, const PlanEntry& entry) {
    return (is_uneven(kind) ? name_of(kind) + " by " : "") + describe(entry);
}

void log_fall_back(CallKind kind, const PlanEntry& entry, const EntryCount& count, std::int64_t call, int num_lost) {
    if (!settings.logs) return;
    std::array<char, 160> why{};
    std::snprintf(why.data(), why.size(),
                  "slower than the MPI's own in %d comparisons in a row, %.3g ms to %.3g ms in the last", num_lost,
                  1e-6 * static_cast<double>(count.schedule_ns.load()),
                  1e-6 * static_cast<double>(count.native_ns.load()));
    log_line(describe(kind, entry) + ": " + why.data() + "; native from its call " + std::to_string(call) + " on");
}

}  // namespace hocket::interpose
