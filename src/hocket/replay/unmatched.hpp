// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "hocket/base/index.hpp"
#include "hocket/program/op_stream.hpp"
#include "hocket/replay/left_out.hpp"

namespace hocket::replay {

/// Counts sends and recvs: in the end, those channels that have more of one than of the other.
class UnmatchedMessages : public OpSink {
public:
    struct Counts {
        std::int64_t sends = 0, recvs = 0;
    };
    using Channels = std::unordered_map<MessageChannel, Counts, MessageChannel::Hash>;

    Op add(Rank rank, const ProgramOp& op, Tag tag, std::span<const Op>) override {
        if (!is_message(op.kind)) return 0;
        Counts& counts = channels_[MessageChannel::of(rank, op, tag)];
        ++(op.kind == ProgramOpKind::send ? counts.sends : counts.recvs);
        return 0;
    }
    bool waits(Rank, std::span<const Op>) override { return false; }

    void keep_unmatched() {
        std::erase_if(channels_, [](const auto& one) { return one.second.sends == one.second.recvs; });
    }
    [[nodiscard]] const Channels& channels() const { return channels_; }

private:
    Channels channels_;
};

/// Hands ops on; what of messages has no counterpart, as ops that do nothing.
class MatchedSink : public OpSink {
public:
    MatchedSink(OpSink& to, const UnmatchedMessages& unmatched, LeftOutCalls& left_out)
        : to_(to), unmatched_(unmatched), left_out_(left_out) {}

    Op add(Rank rank, const ProgramOp& op, Tag tag, std::span<const Op> after) override {
        if (!is_message(op.kind)) return to_.add(rank, op, tag, after);
        const auto of_channel = unmatched_.channels().find(MessageChannel::of(rank, op, tag));
        if (of_channel == unmatched_.channels().end()) return to_.add(rank, op, tag, after);
        const bool is_send = op.kind == ProgramOpKind::send;
        UnmatchedMessages::Counts& so_far = so_far_[of_channel->first];
        const std::int64_t number = (is_send ? so_far.sends : so_far.recvs)++;
        if (number < std::min(of_channel->second.sends, of_channel->second.recvs)) return to_.add(rank, op, tag, after);
        left_out_.add_unmatched(is_send, op.bytes);
        ProgramOp nothing{};
        nothing.kind = ProgramOpKind::compute;
        return to_.add(rank, nothing, 0, after);
    }
    bool waits(Rank rank, std::span<const Op> frontier) override { return to_.waits(rank, frontier); }
    [[nodiscard]] std::int64_t num_added(Rank rank) const override { return to_.num_added(rank); }
    void mark_collective(Rank rank, Tag tag, std::int32_t number, std::int32_t num_ops) override {
        to_.mark_collective(rank, tag, number, num_ops);
    }

private:
    OpSink& to_;
    const UnmatchedMessages& unmatched_;
    LeftOutCalls& left_out_;
    UnmatchedMessages::Channels so_far_;
};

}  // namespace hocket::replay
