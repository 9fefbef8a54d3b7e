// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/streamed_work.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "hocket/base/error.hpp"

namespace hocket::simulation {

namespace {

template <class Row>
std::int32_t take_number(std::vector<Row>& rows, std::vector<std::int32_t>& free) {
    if (!free.empty()) {
        const std::int32_t number = free.back();
        free.pop_back();
        return number;
    }
    if (rows.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw InvalidInput("more than 2^31 - 1 operations or messages at a time");
    rows.emplace_back();
    return static_cast<std::int32_t>(rows.size()) - 1;
}

}  // namespace

std::int64_t StreamedWork::num_total(std::int64_t num_done) const {
    const double share = std::clamp(stream_.share_added(), 1e-9, 1.0);
    return std::max(num_done, static_cast<std::int64_t>(static_cast<double>(num_added_) / share));
}

void StreamedWork::take(Timeline& timeline) const {
    for (const RankState& rank : ranks_) {
        const bool has_ended = rank.num_live == 0 && rank.num_awaited == 0;
        timeline.finish_s.push_back(has_ended ? rank.finish_s : std::numeric_limits<double>::quiet_NaN());
    }
}

std::string StreamedWork::describe_waiting() const {
    const LiveOp* first = nullptr;
    for (const LiveOp& op : ops_) {
        if (op.rank == none || op.is_of_handshake) continue;
        const auto place = [this](const LiveOp& one) {  // a large send waits for its handshake alone
            return std::tuple(one.waits_for > 0 && !is_large(one.what), one.rank, one.order);
        };
        if (first == nullptr || place(op) < place(*first)) first = &op;
    }
    if (first == nullptr) return "a message";
    const std::string bytes = std::to_string(first->what.bytes) + " bytes";
    const std::string peer = "rank " + std::to_string(first->what.peer.value);
    const std::string what = first->what.kind == ProgramOpKind::send   ? "send of " + bytes + " to " + peer
                             : first->what.kind == ProgramOpKind::recv ? "recv of " + bytes + " from " + peer
                                                                       : std::string(name_of(first->what.kind));
    return "rank " + std::to_string(first->rank) + ": " + what;
}

OpSink::Op StreamedWork::add(Rank rank, const ProgramOp& what, Tag tag, std::span<const Op> after) {
    const std::int32_t op = make_op(rank, what);
    if (!is_large(what))
        for (const Op one : after)
            if (const std::int32_t on = live(one); on != none) depend(op, on);
    if (is_message(what.kind)) join_message(op, tag);
    if (is_large(what)) shake_hands(op, after);
    if (at(op).waits_for == 0) release(op);
    return handle(op);
}

bool StreamedWork::waits(Rank rank, std::span<const Op> frontier) {
    RankState& state = ranks_[rank.at()];
    for (const Op one : frontier) {
        const std::int32_t op = live(one);
        if (op == none || at(op).is_awaited) continue;
        at(op).is_awaited = true;
        ++state.num_awaited;
    }
    return state.num_awaited > 0;
}

std::int32_t StreamedWork::live(Op one) const {
    const auto op = static_cast<std::int32_t>(one & 0x7fffffff);
    return at(op).rank != none && at(op).generation == static_cast<std::uint64_t>(one) >> 32U ? op : none;
}

std::int32_t StreamedWork::make_op(Rank rank, const ProgramOp& what) {
    const std::int32_t op = take_number(ops_, free_ops_);
    RankState& state = ranks_[rank.at()];
    LiveOp& made = at(op);
    made = {.what = what, .rank = rank.value, .generation = made.generation, .order = state.num_added++};
    ++state.num_live;
    ++num_ops_;
    ++num_added_;
    return op;
}

void StreamedWork::depend(std::int32_t op, std::int32_t on) {
    const std::int32_t edge = take_number(edges_, free_edges_);
    edges_[static_cast<std::size_t>(edge)] = {op, none};
    LiveOp& before = at(on);
    (before.first_edge == none ? before.first_edge : edges_[static_cast<std::size_t>(before.last_edge)].next) = edge;
    before.last_edge = edge;
    ++at(op).waits_for;
}

void StreamedWork::release(std::int32_t op) {
    const LiveOp& released = at(op);
    (released.is_late ? late_ : ready_).push_back(op);
    if (released.what.kind != ProgramOpKind::recv) return;
    const std::int32_t answer = messages_[static_cast<std::size_t>(released.message)].answer;
    if (answer != none) let_go(answer);
}

void StreamedWork::let_go(std::int32_t op) {
    if (--at(op).waits_for == 0) release(op);
}

void StreamedWork::end(std::int32_t op, double now_s) {
    const LiveOp done = at(op);
    for (std::int32_t edge = done.first_edge; edge != none;) {
        const Edge one = edges_[static_cast<std::size_t>(edge)];
        free_edges_.push_back(edge);
        let_go(one.dependent);
        edge = one.next;
    }
    if (done.what.kind == ProgramOpKind::recv) {  // its send was done before
        free_messages_.push_back(done.message);
        --num_messages_;
    }
    at(op).rank = none;
    ++at(op).generation;
    free_ops_.push_back(op);
    --num_ops_;
    RankState& rank = ranks_[static_cast<std::size_t>(done.rank)];
    --rank.num_live;
    rank.finish_s = std::max(rank.finish_s, now_s);
    if (done.is_awaited && --rank.num_awaited == 0) stream_.advance(Rank{done.rank});
}

std::int32_t StreamedWork::make_message(std::int32_t pair, std::int64_t bytes) {
    const std::int32_t m = take_number(messages_, free_messages_);
    messages_[static_cast<std::size_t>(m)] = {.ends = {none, none, pair, bytes}, .state = {}};
    ++num_messages_;
    return m;
}

std::int32_t StreamedWork::pair_of(Rank source, Rank target) {
    const std::uint64_t key =
        std::uint64_t{static_cast<std::uint32_t>(source.value)} << 32U | static_cast<std::uint32_t>(target.value);
    const auto [found, is_new] = pair_numbers_.try_emplace(key, static_cast<std::int32_t>(pairs_.size()));
    if (is_new) pairs_.emplace_back(source, target);
    return found->second;
}

StreamedWork::Queue& StreamedWork::queue_of(const MessageChannel& channel) {
    if (const auto found = queues_.find(channel); found != queues_.end()) return found->second;
    if (queues_.size() >= most_queues_) {
        std::erase_if(queues_, [](const auto& one) { return one.second.first == none; });
        most_queues_ = std::max(most_queues_, 2 * queues_.size());
    }
    Queue& made = queues_[channel];
    made.pair = pair_of(Rank{channel.source}, Rank{channel.target});
    return made;
}

void StreamedWork::join_message(std::int32_t op, Tag tag) {
    LiveOp& own = at(op);
    const bool is_send = own.what.kind == ProgramOpKind::send;
    Queue& queue = queue_of(MessageChannel::of(Rank{own.rank}, own.what, tag));
    const auto end = is_send ? &Message::send : &Message::recv;
    std::int32_t m = queue.first;
    if (m != none && messages_[static_cast<std::size_t>(m)].ends.*end == none) {
        queue.first = messages_[static_cast<std::size_t>(m)].next;
    } else {
        m = make_message(queue.pair, 0);
        (queue.first == none ? queue.first : messages_[static_cast<std::size_t>(queue.last)].next) = m;
        queue.last = m;
    }
    LiveMessage& message = messages_[static_cast<std::size_t>(m)];
    message.ends.*end = op;
    if (is_send) message.ends.bytes = own.what.bytes;
    own.message = m;
}

/// An end of a request or an answer. Its recv needs nobody who waits for it.
std::int32_t StreamedWork::add_empty(Rank rank, Rank peer, ProgramOpKind kind, std::int32_t m) {
    ProgramOp what{};
    what.kind = kind;
    what.peer = peer;
    const std::int32_t op = make_op(rank, what);
    at(op).message = m;
    at(op).is_of_handshake = true;
    LiveMessage& message = messages_[static_cast<std::size_t>(m)];
    if (kind == ProgramOpKind::send) {
        message.ends.send = op;
        at(op).is_late = true;
    } else {
        message.ends.recv = op;
        message.state.posted = true;
    }
    return op;
}

void StreamedWork::shake_hands(std::int32_t send, std::span<const Op> after) {
    const Rank source{at(send).rank}, target = at(send).what.peer;
    const std::int32_t m = at(send).message;
    const std::int32_t request = make_message(pair_of(source, target), 0);
    const std::int32_t answer = make_message(pair_of(target, source), 0);
    const std::int32_t asks = add_empty(source, target, ProgramOpKind::send, request);
    const std::int32_t is_answered = add_empty(source, target, ProgramOpKind::recv, answer);
    const std::int32_t is_asked = add_empty(target, source, ProgramOpKind::recv, request);
    const std::int32_t answers = add_empty(target, source, ProgramOpKind::send, answer);
    for (const std::int32_t late : {asks, answers})
        std::tie(at(late).order_rank, at(late).order) = std::tie(source.value, at(send).order);

    for (const Op one : after)
        if (const std::int32_t on = live(one); on != none) depend(asks, on);
    depend(send, is_answered);
    depend(answers, is_asked);
    const std::int32_t recv = message(m).recv;
    if (recv == none || at(recv).waits_for > 0) {
        messages_[static_cast<std::size_t>(m)].answer = answers;
        ++at(answers).waits_for;
    }
    if (at(asks).waits_for == 0) release(asks);
}

void StreamedWork::sort_late() {
    std::ranges::sort(late_, {}, [this](std::int32_t op) { return std::pair(at(op).order_rank, at(op).order); });
}

}  // namespace hocket::simulation
