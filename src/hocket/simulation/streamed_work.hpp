// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/program/op_stream.hpp"
#include "hocket/simulation/matching.hpp"
#include "hocket/simulation/message_state.hpp"
#include "hocket/simulation/timeline.hpp"

namespace hocket::simulation {

/// The ops and messages of a stream, as a ProgramEngine sees them: from when they were added until they are done. Their
/// numbers are used again. The ops become ready in the order of a WholeWork, and so the results are the same, bit for
/// bit.
///
/// Rendezvous. What with_handshakes() adds to a Program is added here with each large send: request and answer, each an
/// empty message. There, these ops stand behind all others of their rank, so they become ready last (`late_`).
class StreamedWork final : public OpSink {
public:
    static constexpr bool grows = true;

    StreamedWork(OpStream& stream, std::int64_t rendezvous_bytes)
        : stream_(stream), rendezvous_bytes_(rendezvous_bytes), ranks_(static_cast<std::size_t>(stream.num_ranks())) {}

    // What the engine asks for.
    [[nodiscard]] std::size_t num_ranks() const { return ranks_.size(); }
    [[nodiscard]] std::size_t num_pairs() const { return pairs_.size(); }
    [[nodiscard]] std::size_t num_messages() const { return messages_.size(); }
    [[nodiscard]] std::int64_t num_total(std::int64_t num_done) const;
    [[nodiscard]] const ProgramOp& op(std::int32_t op) const { return at(op).what; }
    [[nodiscard]] std::int32_t rank_of(std::int32_t op) const { return at(op).rank; }
    [[nodiscard]] std::int32_t message_of(std::int32_t op) const { return at(op).message; }
    [[nodiscard]] const Message& message(std::int32_t m) const { return messages_[static_cast<std::size_t>(m)].ends; }
    [[nodiscard]] const std::pair<Rank, Rank>& ends(std::int32_t m) const {
        return pairs_[static_cast<std::size_t>(message(m).pair)];
    }
    /// For transports that need it alone, which a stream does not have.
    [[nodiscard]] static std::int32_t place_of_send(std::int32_t) { return 0; }
    MessageState& state(std::int32_t m) { return messages_[static_cast<std::size_t>(m)].state; }
    static void starts(std::int32_t, double) {}
    template <class Ready>
    void begin(Ready&& ready) {
        stream_.begin(*this);
        for (std::int32_t rank = 0; rank < stream_.num_ranks(); ++rank) {
            stream_.advance(Rank{rank});
            hand_over(ready);
        }
    }
    template <class Ready>
    void done(std::int32_t op, double now_s, Ready&& ready) {
        end(op, now_s);
        hand_over(ready);
    }
    /// Fills the finish of each rank.
    void take(Timeline& timeline) const;

    /// Some ops are not done, or some messages have no counterpart.
    [[nodiscard]] bool is_left() const { return num_ops_ > 0 || num_messages_ > 0; }
    /// The first op that waits though all before it are done.
    [[nodiscard]] std::string describe_waiting() const;
    [[nodiscard]] std::int64_t num_left() const { return num_ops_; }

    // OpSink
    Op add(Rank rank, const ProgramOp&, Tag, std::span<const Op> after) override;
    bool waits(Rank, std::span<const Op> frontier) override;

private:
    static constexpr std::int32_t none = -1;

    struct LiveOp {
        ProgramOp what;
        std::int32_t rank = none;  ///< none: the number is free
        std::int32_t message = none;
        std::int32_t waits_for = 0;
        std::int32_t first_edge = none, last_edge = none;
        std::uint32_t generation = 0;  ///< how many have had this number
        bool is_awaited = false;       ///< by what its rank does next
        bool is_of_handshake = false;
        bool is_late = false;
        std::int32_t order_rank = 0;  ///< of a late one: source of the message that it is for
        std::int64_t order = 0;       ///< likewise: number of its send there; else number of the op at its rank
    };
    struct Edge {
        std::int32_t dependent, next;
    };
    struct LiveMessage {
        Message ends;
        MessageState state;
        std::int32_t next = none;    ///< in the queue of its channel
        std::int32_t answer = none;  ///< op that waits until the recv may be posted, of a rendezvous
    };
    struct Queue {  ///< of messages one end of which is there
        std::int32_t first = none, last = none;
        std::int32_t pair;
    };
    struct RankState {
        std::int64_t num_added = 0;
        std::int32_t num_live = 0, num_awaited = 0;
        bool has_ended = false;
        double finish_s = 0;
    };

    [[nodiscard]] bool is_large(const ProgramOp& op) const {
        return op.kind == ProgramOpKind::send && op.bytes >= rendezvous_bytes_;
    }
    [[nodiscard]] LiveOp& at(std::int32_t op) { return ops_[static_cast<std::size_t>(op)]; }
    [[nodiscard]] const LiveOp& at(std::int32_t op) const { return ops_[static_cast<std::size_t>(op)]; }
    [[nodiscard]] Op handle(std::int32_t op) const { return Op{at(op).generation} << 32U | Op{op}; }
    /// None if it is done.
    [[nodiscard]] std::int32_t live(Op) const;

    std::int32_t make_op(Rank rank, const ProgramOp&);
    void depend(std::int32_t op, std::int32_t on);
    /// All that it waits for is done.
    void release(std::int32_t op);
    void let_go(std::int32_t op);
    void end(std::int32_t op, double now_s);

    std::int32_t make_message(std::int32_t pair, std::int64_t bytes);
    std::int32_t pair_of(Rank source, Rank target);
    Queue& queue_of(const MessageChannel&);
    void join_message(std::int32_t op, Tag tag);
    void shake_hands(std::int32_t send, std::span<const Op> after);
    std::int32_t add_empty(Rank from, Rank to, ProgramOpKind, std::int32_t message);

    template <class Ready>
    void hand_over(Ready&& ready) {
        for (const std::int32_t op : ready_) ready(op);
        ready_.clear();
        if (late_.empty()) return;
        sort_late();
        for (const std::int32_t op : late_) ready(op);
        late_.clear();
    }
    void sort_late();

    OpStream& stream_;
    std::int64_t rendezvous_bytes_;
    std::vector<RankState> ranks_;
    std::vector<LiveOp> ops_;
    std::vector<Edge> edges_;
    std::vector<LiveMessage> messages_;
    std::vector<std::int32_t> free_ops_, free_edges_, free_messages_;
    std::int64_t num_ops_ = 0, num_messages_ = 0, num_added_ = 0;
    std::vector<std::pair<Rank, Rank>> pairs_;
    std::unordered_map<std::uint64_t, std::int32_t> pair_numbers_;
    std::unordered_map<MessageChannel, Queue, MessageChannel::Hash> queues_;
    std::size_t most_queues_ = std::size_t{1} << 16U;
    std::vector<std::int32_t> ready_, late_;
};

}  // namespace hocket::simulation
