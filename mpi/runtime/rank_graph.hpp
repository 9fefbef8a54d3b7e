// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/schedule/schedule.hpp"

namespace hocket::runtime {

/// Messages of a pair that tags distinguish. More than a pair ever has under way, and few, so that MPI's tags last for
/// many calls.
constexpr std::size_t num_message_tags = 4096;

/// A RankSchedule prepared for execution: who waits for whom, and which tag each message has. Immutable.
class RankGraph {
public:
    explicit RankGraph(RankSchedule schedule);

    [[nodiscard]] std::int32_t num_ops() const { return static_cast<std::int32_t>(schedule_.ops.size()); }
    [[nodiscard]] const Op& op(std::int32_t i) const { return schedule_.ops[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::span<const ChunkRange> ranges(std::int32_t i) const { return schedule_.chunks_of(op(i)); }
    [[nodiscard]] std::span<const std::int32_t> successors(std::int32_t i) const;
    /// The index of the message among those from its source to its target, below num_message_tags, so that the order in
    /// which messages are posted does not matter.
    [[nodiscard]] int tag(std::int32_t i) const { return tags_[static_cast<std::size_t>(i)]; }
    /// The number of the stream of messages that the op belongs to: those from one peer, or to one peer.
    [[nodiscard]] std::int32_t channel(std::int32_t i) const { return channels_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t num_channels() const { return num_channels_; }
    /// Number of dependencies of each op.
    [[nodiscard]] const std::vector<std::int32_t>& num_dependencies() const { return num_dependencies_; }
    /// The receives that reduce, in schedule order.
    [[nodiscard]] const std::vector<std::int32_t>& reductions() const { return reductions_; }

private:
    RankSchedule schedule_;
    std::vector<std::int32_t> num_dependencies_;
    std::vector<std::int32_t> first_successor_;  // compressed rows
    std::vector<std::int32_t> successors_;
    std::vector<std::int32_t> reductions_;
    std::vector<int> tags_;
    std::vector<std::int32_t> channels_;
    std::int32_t num_channels_ = 0;
};

}  // namespace hocket::runtime
