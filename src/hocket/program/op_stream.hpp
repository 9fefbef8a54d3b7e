// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hocket/program/program.hpp"

namespace hocket {

/// Takes the ops of a program one after another: into a Program, or into a simulation that goes on meanwhile.
class OpSink {
public:
    /// An op that was added to this sink.
    using Op = std::int64_t;
    /// Messages of equal (source, target, tag) match in the order in which their ops were added at their rank.
    using Tag = std::int64_t;

    virtual ~OpSink() = default;
    /// An op of `rank` that starts after the ops `after` of that rank. Its own tag and dependencies are not looked at,
    /// nor are the bytes of a recv, which are those of the send.
    virtual Op add(Rank rank, const ProgramOp&, Tag, std::span<const Op> after) = 0;
    /// Whether the next op of a rank has to wait for some of these. If so, the stream is asked to advance the rank once
    /// all are done; if not, it may add further ops.
    virtual bool waits(Rank, std::span<const Op> frontier) = 0;
    /// Ops of a rank that were added so far.
    [[nodiscard]] virtual std::int64_t num_added(Rank) const { return 0; }
    /// The last `num_ops` of a rank are its part in the collective `number` among those with a tag.
    virtual void mark_collective(Rank, Tag, std::int32_t number, std::int32_t num_ops) {
        static_cast<void>(num_ops), static_cast<void>(number);
    }
};

/// Messages whose ops match each other in their order.
struct MessageChannel {
    std::int32_t source, target;
    OpSink::Tag tag;
    bool operator==(const MessageChannel&) const = default;

    /// That of a send or a recv of `rank`.
    static MessageChannel of(Rank rank, const ProgramOp& op, OpSink::Tag tag) {
        const bool is_send = op.kind == ProgramOpKind::send;
        return {is_send ? rank.value : op.peer.value, is_send ? op.peer.value : rank.value, tag};
    }
    struct Hash {
        std::size_t operator()(const MessageChannel& channel) const {
            std::uint64_t hash = static_cast<std::uint64_t>(channel.tag) * 0x9E3779B97F4A7C15U;
            hash ^= hash >> 29U;
            hash += std::uint64_t{static_cast<std::uint32_t>(channel.source)} << 32U |
                    static_cast<std::uint32_t>(channel.target);
            hash *= 0xBF58476D1CE4E5B9U;
            return static_cast<std::size_t>(hash ^ hash >> 32U);
        }
    };
};

/// The ops of a program, which come when they are needed, so that they need not be in memory all at once.
class OpStream {
public:
    virtual ~OpStream() = default;
    [[nodiscard]] virtual std::int32_t num_ranks() const = 0;
    /// Begins anew.
    virtual void begin(OpSink&) = 0;
    /// Adds ops of a rank, and what they cause at others, until the sink says that the next one waits; or all that are
    /// left.
    virtual void advance(Rank) = 0;
    /// Of all ops those that were added, about: 0 to 1.
    [[nodiscard]] virtual double share_added() const = 0;
    /// The ops have shown that some messages have no counterpart. Whether the stream leaves those out when it begins
    /// anew; false if it cannot, or does already.
    virtual bool leave_out_unmatched() = 0;
};

}  // namespace hocket
