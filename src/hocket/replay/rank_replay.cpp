// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/rank_replay.hpp"

#include <algorithm>

#include "hocket/trace/format.h"

namespace hocket::replay {

namespace {

constexpr double seconds_per_ns = 1e-9;

}  // namespace

RankReplay::RankReplay(ReplayState& shared, Rank rank)
    : shared_(shared),
      rank_(rank),
      reader_(shared.source.read(rank.value,
                                 shared.options.cpu_time ? trace::CpuReadings::filled : trace::CpuReadings::as_read)),
      windows_(shared.builder, rank),
      ahead_(shared, rank),
      call_ops_(shared.call_ops.empty() ? nullptr : &shared.call_ops[rank.at()]) {
    read_on();
}

std::int64_t RankReplay::first_exit_ns() const {
    return part_ == nullptr ? std::numeric_limits<std::int64_t>::max() : part_->calls.front().exit_ns;
}

void RankReplay::read_on() {
    do part_ = reader_->next();
    while (part_ != nullptr && part_->calls.empty());
    shared_.follow_tables();
    at_ = 0;
    if (part_ != nullptr) blocks_ = part_->blocks.data();
}

const trace::Call* RankReplay::next() {
    if (part_ != nullptr && at_ == part_->calls.size()) read_on();
    ++num_calls_;
    return part_ == nullptr ? nullptr : &part_->calls[at_++];
}

void RankReplay::advance() {
    while (const Call* const call = next()) {
        play_in_turn(*call);
        if (shared_.builder.waits(rank_)) return;
    }
    finish();
}

void RankReplay::finish() {
    shared_.end_ns = std::max(shared_.end_ns, end_ns_);
    shared_.changes.finish(rank_);
}

void RankReplay::compute(std::int64_t ns) {
    double left_s = static_cast<double>(ns) * seconds_per_ns;
    const auto add = [&](double seconds) { shared_.builder.compute(rank_, shared_.changes.changed(rank_, seconds)); };
    const double slice_s = shared_.options.time_slice_s;
    for (; slice_s > 0 && left_s > slice_s; left_s -= slice_s) add(slice_s);
    if (left_s > 0) add(left_s);
}

void RankReplay::compute_since_last(const Call& call) {
    const bool cpu_known = last_->exit_cpu_ns >= 0 && call.enter_cpu_ns >= 0;
    compute(shared_.options.cpu_time && cpu_known ? call.enter_cpu_ns - last_->exit_cpu_ns
                                                  : call.enter_ns - last_->exit_ns);
}

void RankReplay::play_in_turn(const Call& call) {
    end_ns_ = kind(call) == FunctionKind::finalize ? call.enter_ns : call.exit_ns;
    const auto num_ops = [this] { return static_cast<std::int32_t>(shared_.builder.num_ops(rank_)); };
    const std::int32_t last = call_ops_ == nullptr ? 0 : num_ops();
    const bool is_played = call.thread <= 0 && !finalized_;
    if (is_played) {
        if (last_)
            compute_since_last(call);
        else
            compute(call.exit_ns - shared_.start_ns);
        compute(shared_.options.cpu_time ? call.outside_cpu_ns : call.outside_ns);
        last_ = {call.exit_ns, call.exit_cpu_ns};
        finalized_ = kind(call) == FunctionKind::finalize;
    } else if (!finalized_ && kind(call) != FunctionKind::local) {
        leave_out(call, "called by another thread than the main one");
    }
    const std::int32_t first = call_ops_ == nullptr ? 0 : num_ops();
    if (call_ops_ != nullptr) {
        call_ops_->computed.push_back({last, first});
        call_ops_->before.push_back(call_ops_->add(shared_.builder.frontier(rank_)));
    }
    if (is_played) {
        if (call.error <= 0)
            play(call);
        else if (kind(call) != FunctionKind::local)
            leave_out(call, "the call failed");
    }
    if (call_ops_ != nullptr) {
        call_ops_->begun.push_back({first, num_ops()});
        call_ops_->after.push_back(call_ops_->add(shared_.builder.frontier(rank_)));
        ++call_;
    }
}

void RankReplay::await(const Pending& pending) {
    note_completed(pending);
    shared_.builder.await(rank_, pending);
}

void RankReplay::note_completed(const Pending& ops) {
    if (call_ops_ == nullptr) return;
    for (const OpSink::Op op : ops) call_ops_->completed.push_back({static_cast<std::int32_t>(op), call_});
}

void RankReplay::play(const Call& call) {
    switch (kind(call)) {
        case FunctionKind::local:
        case FunctionKind::init:
        case FunctionKind::finalize:
            return;
        case FunctionKind::file:
            return compute(call.exit_ns - call.enter_ns);
        case FunctionKind::set_up:
            add_window(call);
            return leave_out(call, "making communicators, windows and processes is not modelled");
        case FunctionKind::send: {
            const Pending sent = send(call);
            if (call.bytes >= shared_.options.eager_bytes)
                await(sent);
            else
                note_completed(sent);
            return;
        }
        case FunctionKind::recv: {
            const std::int32_t communicator = call.communicator >= 0 || call.peer < 0
                                                  ? call.communicator
                                                  : communicator_of_matched(call.peer, call.tag);
            return await(receive(call, communicator, call.peer, call.tag, call.bytes));
        }
        case FunctionKind::sendrecv: {
            Pending both = send(call);
            const Pending received = receive_half(call);
            both.insert(both.end(), received.begin(), received.end());
            return await(both);
        }
        case FunctionKind::isend:
        case FunctionKind::irecv:
        case FunctionKind::isendrecv:
        case FunctionKind::partitioned_send:
            return begin(call);
        case FunctionKind::start:
            return for_each_request(call, [&](std::uint64_t request) { restart(request); });
        case FunctionKind::ready:
            return make_ready(call);
        case FunctionKind::complete:
            return for_each_request(call, [&](std::uint64_t request) { complete(request); });
        case FunctionKind::look:
            return look(call);
        case FunctionKind::matched_probe:
            if (call.peer >= 0 && call.communicator >= 0) matched_[{call.peer, call.tag}].push_back(call.communicator);
            return;
        case FunctionKind::collective:
            return collective(call);
        case FunctionKind::one_sided:
            return one_sided(call);
    }
}

void RankReplay::begin(const Call& call) {
    if ((call.flags & HOCKET_TRACE_PERSISTENT) == 0) {
        pending_[call.request] = post(call);
        return;
    }
    Persistent& made = persistent_[call.request];
    made = {call, {}};
    if (call.blocks < 0) return;
    const auto sent = vector_of(call, 0), received = vector_of(call, 1);
    made.blocks.push_back(static_cast<std::int64_t>(sent.size()));
    made.blocks.insert(made.blocks.end(), sent.begin(), sent.end());
    made.blocks.push_back(static_cast<std::int64_t>(received.size()));
    made.blocks.insert(made.blocks.end(), received.begin(), received.end());
    made.call.blocks = 0;
}

RankReplay::Pending RankReplay::post_persistent(std::uint64_t request) {
    const Persistent& made = persistent_[request];
    blocks_ = made.blocks.data();
    Pending pending = post(made.call);
    blocks_ = part_->blocks.data();
    return pending;
}

RankReplay::Pending RankReplay::post(const Call& call) {
    switch (kind(call)) {
        case FunctionKind::collective:
            return collective_ops(call);
        case FunctionKind::isendrecv: {
            Pending both = send(call);
            const Pending received = post_receive(call);
            both.insert(both.end(), received.begin(), received.end());
            return both;
        }
        case FunctionKind::irecv:
            return post_receive(call);
        default:
            return send(call);
    }
}

/// Where a wildcard was asked for, the completion tells what came. Else it is not asked: that of MPI_Isendrecv tells
/// nothing with MPICH 4.0.
RankReplay::Pending RankReplay::post_receive(const Call& call) {
    const bool is_half = kind(call) == FunctionKind::isendrecv;
    std::int32_t peer = is_half ? call.receive_peer : call.peer, tag = is_half ? call.receive_tag : call.tag;
    std::int32_t communicator = call.communicator;
    if (LookAhead::has_wildcard(call, kind(call))) {
        const bool is_matched = !is_half && call.communicator < 0;  // MPI_Imrecv
        if (const auto came = ahead_.came_for(call.request)) {
            if (peer == any_source || is_matched) peer = came->source;
            if (tag == any_tag || is_matched) tag = came->tag;
            if (is_matched) communicator = communicator_of_matched(peer, tag);
        }
    }
    return receive(call, communicator, peer, tag, is_half ? call.receive_bytes : call.bytes);
}

void RankReplay::restart(std::uint64_t request) {
    const auto found = persistent_.find(request);
    if (found == persistent_.end()) return;
    const Call& call = found->second.call;
    if (kind(call) == FunctionKind::partitioned_send && call.bytes > 0)
        unready_bytes_[request] = call.bytes;
    else
        pending_[request] = post_persistent(request);
}

void RankReplay::make_ready(const Call& call) {
    const auto unready = unready_bytes_.find(call.request);
    if (unready == unready_bytes_.end()) return;
    unready->second -= std::max<std::int64_t>(0, call.bytes);
    if (unready->second > 0) return;
    unready_bytes_.erase(unready);
    pending_[call.request] = post_persistent(call.request);
}

void RankReplay::complete(std::uint64_t request) {
    // Other threads may have made partitions ready, but not later than here.
    if (unready_bytes_.erase(request) > 0) pending_[request] = post_persistent(request);
    const auto found = pending_.find(request);
    if (found == pending_.end()) return;
    await(found->second);
    pending_.erase(found);
}

void RankReplay::look(const Call& call) {
    if (!is_completed(call)) return;
    const auto found = pending_.find(call.request);
    if (found != pending_.end()) await(found->second);
}

template <class Action>
void RankReplay::for_each_request(const Call& call, Action action) {
    if (call.completions < 0) {
        if (call.request != 0 && (!name(call).starts_with("MPI_Test") || is_completed(call))) action(call.request);
        return;
    }
    for (std::int64_t i = 0; i < call.num_completions; ++i)
        action(part_->completions[static_cast<std::size_t>(call.completions + i)].request);
}

bool RankReplay::is_completed(const Call& call) { return (call.flags & HOCKET_TRACE_COMPLETED) != 0; }

RankReplay::Partner RankReplay::partner(std::int32_t communicator, std::int32_t peer) const {
    if (peer == -1) return {};  // MPI_PROC_NULL
    if (communicator < 0 || peer < 0) return {{}, "its partner was not recorded"};
    const trace::Communicator& in = shared_.tables.communicators[static_cast<std::size_t>(communicator)];
    const bool own_first = shared_.ranks_in[static_cast<std::size_t>(communicator)][0].contains(rank_.value);
    const auto& group = in.inter && own_first ? in.remote : in.members;
    if (static_cast<std::size_t>(peer) >= group.size()) return {{}, "its partner is not a rank of the communicator"};
    const Rank found{group[static_cast<std::size_t>(peer)]};
    return {found, found.valid() ? nullptr : "its partner is a process outside this trace"};
}

RankReplay::Pending RankReplay::send(const Call& call) {
    const Partner to = partner(call.communicator, call.peer);
    if (to.why != nullptr) leave_out(call, to.why);
    if (!to.rank.valid()) return {};
    return shared_.builder.send(rank_, to.rank, shared_.tag(call.communicator, call.tag),
                                std::max<std::int64_t>(call.bytes, 0));
}

RankReplay::Pending RankReplay::receive(const Call& call, std::int32_t communicator, std::int32_t peer,
                                        std::int32_t tag, std::int64_t bytes) {
    const Partner from = partner(communicator, peer);
    if (from.why != nullptr) shared_.left_out.add(name(call), from.why, 1, bytes);
    if (!from.rank.valid()) return {};
    return shared_.builder.recv(rank_, from.rank, shared_.tag(communicator, tag), std::max<std::int64_t>(bytes, 0));
}

RankReplay::Pending RankReplay::receive_half(const Call& call) {
    return receive(call, call.communicator, call.receive_peer, call.receive_tag, call.receive_bytes);
}

std::int32_t RankReplay::communicator_of_matched(std::int32_t source, std::int32_t tag) {
    const auto found = matched_.find({source, tag});
    if (found == matched_.end() || found->second.empty()) return -1;
    const std::int32_t communicator = found->second.front();
    found->second.pop_front();
    return communicator;
}

}  // namespace hocket::replay
