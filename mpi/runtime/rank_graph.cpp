// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/rank_graph.hpp"

#include <unordered_map>
#include <utility>

namespace hocket::runtime {

RankGraph::RankGraph(RankSchedule schedule) : schedule_(std::move(schedule)) {
    const auto num = schedule_.ops.size();
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // (before, after)
    edges.reserve(schedule_.dependencies.size());
    tags_.resize(num);
    struct Messages {
        std::int32_t channel;
        std::vector<std::int32_t> ops;
    };
    std::unordered_map<std::int64_t, Messages> messages;  // by peer and direction
    for (std::size_t i = 0; i < num; ++i) {
        const Op& op = schedule_.ops[i];
        const auto self = static_cast<std::int32_t>(i);
        for (const std::int32_t before : schedule_.dependencies_of(op)) edges.emplace_back(before, self);
        if (reduces(op.kind)) reductions_.push_back(self);
        const std::int64_t key = std::int64_t{op.peer.value} * 2 + (op.kind == OpKind::send ? 1 : 0);
        auto& [channel, earlier] = messages.try_emplace(key, Messages{num_channels_, {}}).first->second;
        num_channels_ = static_cast<std::int32_t>(messages.size());
        channels_.push_back(channel);
        tags_[i] = static_cast<int>(earlier.size() % num_message_tags);
        // Two messages of the same pair with the same tag are matched in the order in which they are posted.
        if (earlier.size() >= num_message_tags) edges.emplace_back(earlier[earlier.size() - num_message_tags], self);
        earlier.push_back(self);
    }
    num_dependencies_.assign(num, 0);
    first_successor_.assign(num + 1, 0);
    for (const auto& [before, after] : edges) {
        ++num_dependencies_[static_cast<std::size_t>(after)];
        ++first_successor_[static_cast<std::size_t>(before) + 1];
    }
    for (std::size_t i = 0; i < num; ++i) first_successor_[i + 1] += first_successor_[i];
    successors_.resize(edges.size());
    auto next = first_successor_;
    for (const auto& [before, after] : edges) {
        successors_[static_cast<std::size_t>(next[static_cast<std::size_t>(before)]++)] = after;
    }
}

std::span<const std::int32_t> RankGraph::successors(std::int32_t i) const {
    const auto begin = static_cast<std::size_t>(first_successor_[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(first_successor_[static_cast<std::size_t>(i) + 1]);
    return std::span(successors_).subspan(begin, end - begin);
}

}  // namespace hocket::runtime
