// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/lock_order.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hocket/replay/rank_replay.hpp"
#include "hocket/trace/format.h"

namespace hocket::replay {

namespace {

constexpr std::int32_t all_targets = -1;  // of MPI_Win_lock_all
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct Recorded {
    Rank origin;
    bool is_exclusive;
    std::int64_t locked_ns;               // the lock call returned
    std::int64_t unlock_ns, unlocked_ns;  // the unlock was called and returned
    bool is_used = false;                 // a call to the target
    bool held_before_unlock = false;      // a flush behind that has returned
};
using ByPlace = std::map<LockPlace, std::vector<Recorded>>;

/// Follows the windows and locks of one rank.
class RankLocks {
public:
    RankLocks(ReplayState& shared, Rank rank, ByPlace& found) : shared_(shared), rank_(rank), found_(found) {}

    void read() {
        const auto reader = shared_.source.read(rank_.value, trace::CpuReadings::as_read);
        while (const trace::RankFile* const part = reader->next()) {
            shared_.follow_tables();
            for (const trace::Call& call : part->calls)
                if (call.thread <= 0 && call.error <= 0 && call.window >= 0) follow(call);
        }
        for (auto& [place, epoch] : open_) found_[place].push_back(epoch);
    }

private:
    void follow(const trace::Call& call) {
        const auto function = static_cast<std::size_t>(call.function);
        if (shared_.kinds[function] == FunctionKind::set_up && call.communicator >= 0)
            windows_[call.window] = {call.communicator, windows_made_[call.communicator]++, 0};
        const auto window = windows_.find(call.window);
        if (window == windows_.end()) return;
        const OneSidedKind kind = shared_.one_sided_kinds[function];
        LockPlace place = window->second;
        place.target = is_for_all(kind) ? all_targets : world_rank(place.communicator, call.peer);
        if (kind == OneSidedKind::unlock || kind == OneSidedKind::unlock_all) {
            if (auto closed = open_.extract(place)) {
                closed.mapped().unlock_ns = call.enter_ns;
                closed.mapped().unlocked_ns = call.exit_ns;
                found_[place].push_back(closed.mapped());
            }
        } else if (kind == OneSidedKind::lock || kind == OneSidedKind::lock_all) {
            const bool is_exclusive = (call.flags & HOCKET_TRACE_EXCLUSIVE_LOCK) != 0;
            if (is_exclusive || (call.flags & HOCKET_TRACE_SHARED_LOCK) != 0)
                open_[place] = {rank_, is_exclusive, call.exit_ns, never, never};
        } else {
            use(kind, place);
        }
    }
    static bool is_for_all(OneSidedKind kind) {
        return kind == OneSidedKind::lock_all || kind == OneSidedKind::unlock_all || kind == OneSidedKind::flush_all ||
               kind == OneSidedKind::flush_local_all;
    }
    void use(OneSidedKind kind, const LockPlace& place) {
        for (auto& [at, epoch] : open_) {
            if (at.communicator != place.communicator || at.window != place.window) continue;
            if (at.target != place.target && at.target != all_targets && place.target != all_targets) continue;
            switch (kind) {
                case OneSidedKind::put:
                case OneSidedKind::get:
                case OneSidedKind::update:
                case OneSidedKind::fetch:
                    epoch.is_used = true;
                    break;
                case OneSidedKind::flush:
                case OneSidedKind::flush_all:
                    epoch.held_before_unlock = epoch.is_used;
                    break;
                default:
                    break;
            }
        }
    }
    [[nodiscard]] std::int32_t world_rank(std::int32_t communicator, std::int32_t peer) const {
        const auto& members = shared_.tables.communicators[static_cast<std::size_t>(communicator)].members;
        return peer >= 0 && static_cast<std::size_t>(peer) < members.size() ? members[static_cast<std::size_t>(peer)]
                                                                            : -1;
    }

    ReplayState& shared_;
    Rank rank_;
    ByPlace& found_;
    std::map<std::int32_t, std::int32_t> windows_made_;  // by communicator
    std::map<std::int32_t, LockPlace> windows_;          // by number in the file
    std::map<LockPlace, Recorded> open_;
};

bool exclude(const std::vector<Recorded>& epochs) {
    return std::any_of(epochs.begin(), epochs.end(), [](const Recorded& one) { return one.is_exclusive; }) &&
           std::any_of(epochs.begin(), epochs.end(),
                       [&](const Recorded& one) { return one.origin != epochs.front().origin; });
}

/// Whether the locks were held when their calls returned: then no epoch was locked before those that it has to wait for
/// had called their unlocks.
bool are_held_when_locked(const std::vector<Recorded>& by_unlock) {
    std::int64_t exclusive_ns = std::numeric_limits<std::int64_t>::min(), any_ns = exclusive_ns;
    for (const Recorded& one : by_unlock) {
        if (one.locked_ns < (one.is_exclusive ? any_ns : exclusive_ns)) return false;
        if (one.unlock_ns == never) continue;
        any_ns = std::max(any_ns, one.unlock_ns);
        if (one.is_exclusive) exclusive_ns = std::max(exclusive_ns, one.unlock_ns);
    }
    return true;
}

/// An instant at which a lock was held, or where that is not known, one soon behind: with locks that are taken in the
/// unlock.
std::int64_t held_ns(const Recorded& epoch) { return epoch.held_before_unlock ? epoch.unlock_ns : epoch.unlocked_ns; }

std::vector<LockEpoch> in_order(std::vector<Recorded> epochs) {
    std::stable_sort(epochs.begin(), epochs.end(),
                     [](const Recorded& a, const Recorded& b) { return a.unlock_ns < b.unlock_ns; });
    if (!are_held_when_locked(epochs))
        std::stable_sort(epochs.begin(), epochs.end(),
                         [](const Recorded& a, const Recorded& b) { return held_ns(a) < held_ns(b); });
    std::vector<LockEpoch> ordered;
    // When the last exclusive epoch so far, and the last of any, began to release the lock.
    std::int64_t exclusive_ns = std::numeric_limits<std::int64_t>::min(), any_ns = exclusive_ns;
    for (const Recorded& one : epochs) {
        const std::int64_t before_ns = one.is_exclusive ? any_ns : exclusive_ns;
        ordered.push_back({one.origin, one.is_exclusive, one.locked_ns >= before_ns, one.unlock_ns != never});
        if (one.unlock_ns == never) continue;
        any_ns = std::max(any_ns, one.unlock_ns);
        if (one.is_exclusive) exclusive_ns = std::max(exclusive_ns, one.unlock_ns);
    }
    return ordered;
}

}  // namespace

LockOrder::LockOrder(ReplayState& shared) {
    ByPlace found;
    for (std::int32_t rank = 0; rank < shared.source.num_ranks(); ++rank) RankLocks(shared, Rank{rank}, found).read();
    for (auto& [place, epochs] : found) {
        if (place.target == all_targets) continue;
        if (const auto all = found.find({place.communicator, place.window, all_targets}); all != found.end())
            epochs.insert(epochs.end(), all->second.begin(), all->second.end());
        if (exclude(epochs)) epochs_[place] = in_order(std::move(epochs));
    }
}

const std::vector<LockEpoch>& LockOrder::at(const LockPlace& place) const {
    static const std::vector<LockEpoch> none;
    const auto found = epochs_.find(place);
    return found == epochs_.end() ? none : found->second;
}

std::vector<Rank> LockOrder::targets(std::int32_t communicator, std::int32_t window) const {
    std::vector<Rank> found;
    for (auto at = epochs_.lower_bound({communicator, window, 0});
         at != epochs_.end() && at->first.communicator == communicator && at->first.window == window; ++at)
        found.emplace_back(at->first.target);
    return found;
}

}  // namespace hocket::replay
