// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket::replay {

struct ReplayState;

/// The memory of a rank in a window: what a passive-target lock is for.
struct LockPlace {
    std::int32_t communicator;
    std::int32_t window;  ///< its number among those of the communicator
    std::int32_t target;  ///< world rank
    auto operator<=>(const LockPlace&) const = default;
};

/// From MPI_Win_lock or MPI_Win_lock_all of a rank to the unlock.
struct LockEpoch {
    Rank origin;
    bool is_exclusive;
    /// The lock call returned after those that held the lock before it had begun to release it: it has waited for them,
    /// as with Open MPI. Otherwise its unlock has, as with MPICH, where the lock call only notes what is to be done.
    bool waits_in_lock;
    bool is_released;  ///< false: the recording ends before
};

/// In which order the targets granted their locks in the recorded run. Epochs that exclude each other do not overlap at
/// the target, so any instants at which their locks were held are in that order. When an unlock is called the lock is
/// held, unless the MPI takes it only then. It has not where something was flushed before, or where no lock call
/// returned before those before had called their unlocks. Otherwise the return of the unlock counts.
///
/// Reads all calls of the trace once, and keeps those of targets at which epochs of several ranks exclude each other.
class LockOrder {
public:
    explicit LockOrder(ReplayState&);
    /// In the order in which they had the lock; empty where nobody had to wait.
    [[nodiscard]] const std::vector<LockEpoch>& at(const LockPlace&) const;
    /// The targets in a window at which somebody had to wait.
    [[nodiscard]] std::vector<Rank> targets(std::int32_t communicator, std::int32_t window) const;

private:
    std::map<LockPlace, std::vector<LockEpoch>> epochs_;
};

}  // namespace hocket::replay
