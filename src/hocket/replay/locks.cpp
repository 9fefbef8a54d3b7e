// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/locks.hpp"

#include <utility>

#include "hocket/replay/rank_replay.hpp"

namespace hocket::replay {

namespace {

ProgramOp empty_message(ProgramOpKind kind, Rank peer) {
    ProgramOp op{};
    op.kind = kind;
    op.peer = peer;
    return op;
}

}  // namespace

Locks::Pending Locks::lock(Rank origin, const LockPlace& place, const Tags& tags) {
    const auto& epochs = order_->at(place);
    Held& own = held_[{origin.value, place}];
    while (own.next < epochs.size() && epochs[own.next].origin != origin) ++own.next;
    if (own.next == epochs.size()) return {};
    const LockEpoch& epoch = epochs[own.next++];
    // What the target does for those before is there even if their ranks are not read as far.
    for (Target& target = targets_[place]; target.num_granted < own.next; ++target.num_granted)
        expect(place, tags, epochs[target.num_granted], target);
    own.is_held = epoch.is_released;
    shared_.builder.send(origin, Rank{place.target}, tags.request, 0);
    Pending grant = shared_.builder.recv(origin, Rank{place.target}, tags.grant, 0);
    if (epoch.waits_in_lock) return grant;
    own.grant = std::move(grant);
    return {};
}

void Locks::expect(const LockPlace& place, const Tags& tags, const LockEpoch& epoch, Target& target) {
    const Rank self{place.target};
    const auto recv = [&](ProgramBuilder::Tag tag) {
        return shared_.builder.beside(self, empty_message(ProgramOpKind::recv, epoch.origin), tag);
    };
    // Shared epochs since the last exclusive one have waited for that.
    auto after = epoch.is_exclusive && !target.shared.empty() ? target.shared : target.exclusive;
    after.push_back(recv(tags.request));
    shared_.builder.beside(self, empty_message(ProgramOpKind::send, epoch.origin), tags.grant, after);
    if (!epoch.is_released) return;
    const ProgramBuilder::Op release = recv(tags.release);
    if (!epoch.is_exclusive) {
        target.shared.push_back(release);
        return;
    }
    target.shared.clear();
    target.exclusive = {release};
}

Locks::Pending Locks::granted(Rank origin, const LockPlace& place) {
    const auto own = held_.find({origin.value, place});
    return own == held_.end() ? Pending{} : std::exchange(own->second.grant, {});
}

void Locks::unlock(Rank origin, const LockPlace& place, const Tags& tags, const Pending& done) {
    const auto own = held_.find({origin.value, place});
    if (own == held_.end() || !std::exchange(own->second.is_held, false)) return;
    shared_.builder.beside(origin, empty_message(ProgramOpKind::send, Rank{place.target}), tags.release,
                           shared_.builder.behind(origin, done));
}

}  // namespace hocket::replay
