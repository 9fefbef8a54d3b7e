// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/look_ahead.hpp"

#include <utility>

#include "hocket/replay/rank_replay.hpp"
#include "hocket/trace/format.h"

namespace hocket::replay {

bool LookAhead::has_wildcard(const trace::Call& call, FunctionKind kind) {
    if (kind == FunctionKind::isendrecv) return call.receive_peer == any_source || call.receive_tag == any_tag;
    if (kind != FunctionKind::irecv) return false;
    const bool is_matched = call.communicator < 0;  // MPI_Imrecv
    return is_matched || call.peer == any_source || call.tag == any_tag;
}

std::optional<trace::Completion> LookAhead::came_for(std::uint64_t request) {
    auto found = came_.find(request);
    while ((found == came_.end() || found->second.empty()) && !is_done_) {
        is_done_ = !read_on();
        found = came_.find(request);
    }
    if (found == came_.end() || found->second.empty()) return std::nullopt;
    const trace::Completion came = found->second.front();
    found->second.pop_front();
    if (!persistent_.contains(request)) came_.erase(found);
    return came;
}

bool LookAhead::is_last_before_flush(std::int64_t call) {
    while (!is_last_.contains(call) && !is_done_) is_done_ = !read_on();
    const auto found = is_last_.find(call);
    if (found == is_last_.end()) return false;
    const bool is_last = found->second;
    is_last_.erase(found);
    return is_last;
}

bool LookAhead::read_on() {
    if (reader_ == nullptr) reader_ = shared_.source.read(rank_.value, trace::CpuReadings::as_read);
    const trace::RankFile* const part = reader_->next();
    shared_.follow_tables();
    if (part == nullptr) return false;
    for (const trace::Call& call : part->calls) {
        const std::int64_t number = num_calls_++;
        for (std::int64_t i = 0; i < call.num_completions; ++i) {
            const trace::Completion& completion = part->completions[static_cast<std::size_t>(call.completions + i)];
            if (completion.source < 0) continue;
            if (const auto found = came_.find(completion.request); found != came_.end())
                found->second.push_back(completion);
        }
        if (call.thread > 0) continue;
        if (call.error <= 0) note_one_sided(call, number);
        if (!has_wildcard(call, shared_.kinds[static_cast<std::size_t>(call.function)])) continue;
        came_.try_emplace(call.request);
        if ((call.flags & HOCKET_TRACE_PERSISTENT) != 0) persistent_.insert(call.request);
    }
    return true;
}

void LookAhead::note_one_sided(const trace::Call& call, std::int64_t number) {
    const auto all_are = [&](bool last) {
        for (const auto& [target, one] : unflushed_[call.window]) is_last_[one] = last;
        unflushed_[call.window].clear();
    };
    switch (shared_.one_sided_kinds[static_cast<std::size_t>(call.function)]) {
        case OneSidedKind::put:
        case OneSidedKind::update: {
            const auto [at, is_first] = unflushed_[call.window].try_emplace(call.peer, number);
            if (!is_first) is_last_[std::exchange(at->second, number)] = false;
            return;
        }
        case OneSidedKind::flush:
        case OneSidedKind::unlock:
            if (const auto found = unflushed_[call.window].extract(call.peer)) is_last_[found.mapped()] = true;
            return;
        case OneSidedKind::fence:
        case OneSidedKind::flush_all:
        case OneSidedKind::unlock_all:
            return all_are(true);
        case OneSidedKind::complete:
            return all_are(false);
        default:
            return;
    }
}

}  // namespace hocket::replay
