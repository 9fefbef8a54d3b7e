// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "hocket/plan/plan.hpp"
#include "interpose/call_kinds.hpp"

namespace hocket::interpose {

/// How often an entry was met, and what comparisons with native calls have found.
struct EntryCount {
    std::atomic<std::int64_t> rerouted{0};
    std::atomic<std::int64_t> kept_native{0};  ///< calls with an operator that the schedule must not be used for
    std::atomic<std::int64_t> self_check{0};   ///< native to compare their time
    std::atomic<std::int64_t> after_fall_back{0};
    std::atomic<std::int64_t> fell_back_at_call{0};  ///< its first native call on a communicator; 0 = it did not
    /// Of selection::SelfCheck, by comparisons on whatever communicators: what one has learnt holds for the next.
    std::atomic<std::int64_t> standing{0};
    std::atomic<std::int64_t> native_ns{0}, schedule_ns{0};  ///< of the last comparison
};

/// "allreduce of ...", or "allgatherv by allgather of ..."
std::string describe(CallKind kind, const PlanEntry& entry);

class EntryCounts {
public:
    void reset(std::size_t num_entries) {
        counts_ = std::make_unique<EntryCount[]>(num_entries);
        uneven_ = std::make_unique<EntryCount[]>(num_entries);
    }
    EntryCount& operator[](std::size_t entry) { return counts_[entry]; }
    EntryCount& of(CallKind kind, std::size_t entry) { return (is_uneven(kind) ? uneven_ : counts_)[entry]; }

private:
    std::unique_ptr<EntryCount[]> counts_;
    std::unique_ptr<EntryCount[]> uneven_;  // of calls whose blocks differ
};

/// Of the plan in force. Not destroyed, since other threads may still run when the process ends.
extern EntryCounts& entry_counts;

/// Writes that the entry is native from this call on, if lines for people are asked for. For one rank of the
/// communicator.
void log_fall_back(CallKind kind, const PlanEntry& entry, const EntryCount& count, std::int64_t call, int num_lost);

}  // namespace hocket::interpose
