// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What a rank does with others at once: collectives and windows.

#include <algorithm>

#include "hocket/replay/rank_replay.hpp"
#include "hocket/trace/format.h"

namespace hocket::replay {

namespace {

// MPI tags are not negative and -1 is none, so these are free. All ranks call the collectives of a communicator in the
// same order, and messages match in the order of the ops, so one tag is enough for all of them.
constexpr std::int32_t collective_tag = -2, data_tag = -3, answer_tag = -4, acknowledge_tag = -5, first_window_tag = -6;
constexpr std::int32_t tags_of_window = 6;  // post, complete, fence, and of locks request, grant, release

}  // namespace

void RankReplay::collective(const Call& call) {
    const trace::Form form = shared_.collectives[static_cast<std::size_t>(call.function)].form;
    if (form == trace::Form::blocking)
        await(collective_ops(call));
    else
        begin(call);
}

RankReplay::Pending RankReplay::collective_ops(const Call& call) {
    if (call.communicator < 0) {
        leave_out(call, "its communicator was not recorded");
        return {};
    }
    // All members begin the collectives of a communicator in the same order.
    return graft(call, shared_.collectives[static_cast<std::size_t>(call.function)].collective, call.communicator,
                 shared_.tag(call.communicator, collective_tag), collectives_begun_[call.communicator]++);
}

RankReplay::Pending RankReplay::graft(const Call& call, std::string_view collective, std::int32_t communicator,
                                      OpSink::Tag tag, std::int32_t number) {
    const trace::Communicator& in = shared_.tables.communicators[static_cast<std::size_t>(communicator)];
    const auto& ranks = shared_.ranks_in[static_cast<std::size_t>(communicator)];
    const bool second = in.inter && !ranks[0].contains(rank_.value);
    const auto& members = second ? in.remote : in.members;
    const auto& remote = second ? in.members : in.remote;
    const auto own = ranks[second].find(rank_.value);
    if (own == ranks[second].end() || ranks[second].size() != members.size() ||
        ranks[!second].size() != remote.size()) {
        leave_out(call, "some of its ranks are processes outside this trace");
        return {};
    }
    if (members.size() == 1 && !in.inter && !collective.starts_with("neighbor")) return {};
    const CollectiveCall asked{collective,
                               2 * communicator + second,
                               members,
                               own->second,
                               std::max<std::int64_t>(call.bytes, 0),
                               call.root,
                               vector_of(call, 0),
                               vector_of(call, 1),
                               remote,
                               shared_.tables.neighbours_of(rank_.value, communicator)};
    const RankProgram* part = shared_.programs.part(asked);
    if (part == nullptr) {
        leave_out(call, collective.starts_with("neighbor") ? "its neighbours or sizes were not recorded"
                                                           : "its sizes were not recorded");
        return {};
    }
    std::vector<Rank> peers(members.begin(), members.end());
    for (const std::int32_t other : remote) peers.emplace_back(other);
    return shared_.builder.graft(rank_, *part, peers, tag, number);
}

std::span<const std::int64_t> RankReplay::vector_of(const Call& call, int which) const {
    if (call.blocks < 0) return {};
    const std::int64_t* at = blocks_ + call.blocks;
    if (which == 1) at += 1 + *at;
    return {at + 1, static_cast<std::size_t>(*at)};
}

void RankReplay::add_window(const Call& call) {
    if (call.window < 0 || call.communicator < 0) return;
    window_[call.window] = {call.communicator, windows_made_[call.communicator]++, 0};
}

std::vector<Rank> RankReplay::group_of(const Call& call, const Window& window) const {
    std::vector<Rank> group;
    for (const std::int64_t member : vector_of(call, 0)) {
        const Partner found = partner(window.communicator, static_cast<std::int32_t>(member));
        if (found.rank.valid()) group.push_back(found.rank);
    }
    return group;
}

void RankReplay::one_sided(const Call& call) {
    const OneSidedKind kind = shared_.one_sided_kinds[static_cast<std::size_t>(call.function)];
    if (kind == OneSidedKind::wait && name(call).starts_with("MPI_Win_test") && !is_completed(call)) return;
    const auto found = window_.find(call.window);
    if (found == window_.end()) return leave_out(call, "the making of its window was not recorded");
    Window& window = found->second;
    const auto own_tag = [&](std::int32_t which) { return window_tag(window, which); };
    const OneSided::Tags tags{shared_.tag(-1, data_tag), shared_.tag(-1, answer_tag), shared_.tag(-1, acknowledge_tag),
                              own_tag(0), own_tag(1)};
    switch (kind) {
        case OneSidedKind::none:
            return;
        case OneSidedKind::put:
        case OneSidedKind::get:
        case OneSidedKind::update:
        case OneSidedKind::fetch: {
            const Partner target = partner(window.communicator, call.peer);
            if (target.why != nullptr) leave_out(call, target.why);
            if (!target.rank.valid()) return;
            const bool is_written = kind == OneSidedKind::put || kind == OneSidedKind::update;
            const bool is_last = is_written && ahead_.is_last_before_flush(num_calls_ - 1);
            Pending begun =
                windows_.begin(kind, call.window, tags, target.rank, std::max<std::int64_t>(call.bytes, 0), is_last);
            if (call.request != 0) pending_[call.request] = std::move(begun);
            return;
        }
        case OneSidedKind::fence:
            await(windows_.flush(call.window, tags, Rank{}, false));
            return await(graft(call, "barrier", window.communicator, own_tag(2), window.fences++));
        case OneSidedKind::lock:
        case OneSidedKind::lock_all:
            return lock(call, window, kind);
        case OneSidedKind::flush:
        case OneSidedKind::flush_local:
        case OneSidedKind::unlock: {
            const Partner target = partner(window.communicator, call.peer);
            if (!target.rank.valid()) return;
            Pending flushed = windows_.flush(call.window, tags, target.rank, kind == OneSidedKind::flush_local);
            return kind == OneSidedKind::unlock ? unlock(call, window, kind, std::move(flushed)) : await(flushed);
        }
        case OneSidedKind::unlock_all:
            return unlock(call, window, kind, windows_.flush(call.window, tags, Rank{}, false));
        case OneSidedKind::flush_all:
        case OneSidedKind::flush_local_all:
            return await(windows_.flush(call.window, tags, Rank{}, kind == OneSidedKind::flush_local_all));
        case OneSidedKind::post:
        case OneSidedKind::start: {
            if (call.blocks < 0) return leave_out(call, "its group was not recorded");
            std::vector<Rank> group = group_of(call, window);
            return await(kind == OneSidedKind::post ? windows_.post(call.window, tags, std::move(group))
                                                    : windows_.start(call.window, tags, std::move(group)));
        }
        case OneSidedKind::complete:
            return await(windows_.complete(call.window, tags));
        case OneSidedKind::wait:
            return await(windows_.wait(call.window, tags));
    }
}

OpSink::Tag RankReplay::window_tag(const Window& window, std::int32_t which) {
    return ReplayState::tag(window.communicator, first_window_tag - tags_of_window * window.number - which);
}

void RankReplay::lock(const Call& call, const Window& window, OneSidedKind kind) {
    // Earlier recorders did not write the type, and with MPI_MODE_NOCHECK no lock is taken.
    if ((call.flags & (HOCKET_TRACE_EXCLUSIVE_LOCK | HOCKET_TRACE_SHARED_LOCK)) == 0) return;
    shared_.locks.read_order();
    Pending granted;
    for (const LockPlace& place : lock_places(call, window, kind)) {
        const Pending one = shared_.locks.lock(rank_, place, lock_tags(window));
        granted.insert(granted.end(), one.begin(), one.end());
    }
    await(granted);
}

void RankReplay::unlock(const Call& call, const Window& window, OneSidedKind kind, Pending flushed) {
    const auto places = lock_places(call, window, kind);
    for (const LockPlace& place : places) {
        const Pending granted = shared_.locks.granted(rank_, place);
        flushed.insert(flushed.end(), granted.begin(), granted.end());
    }
    for (const LockPlace& place : places) shared_.locks.unlock(rank_, place, lock_tags(window), flushed);
    await(flushed);
}

std::vector<LockPlace> RankReplay::lock_places(const Call& call, const Window& window, OneSidedKind kind) const {
    std::vector<Rank> targets;
    if (kind == OneSidedKind::lock_all || kind == OneSidedKind::unlock_all) {
        targets = shared_.locks.targets(window.communicator, window.number);
    } else if (const Rank target = partner(window.communicator, call.peer).rank; target.valid()) {
        targets = {target};
    }
    std::vector<LockPlace> places;
    for (const Rank target : targets) places.push_back({window.communicator, window.number, target.value});
    return places;
}

Locks::Tags RankReplay::lock_tags(const Window& window) {
    return {window_tag(window, 3), window_tag(window, 4), window_tag(window, 5)};
}

}  // namespace hocket::replay
