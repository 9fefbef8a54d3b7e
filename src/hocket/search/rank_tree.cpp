// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/rank_tree.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "hocket/base/error.hpp"

namespace hocket::search {

namespace {

/// [rank] who sends to it.
std::vector<Rank> parents_of(std::span<const std::vector<Rank>> children, Rank root) {
    std::vector<Rank> parent(children.size());
    if (!root.valid() || root.at() >= children.size())
        throw InvalidInput("root is " + std::to_string(root.value) + ": expected 0 to " +
                           std::to_string(static_cast<std::int64_t>(children.size()) - 1));
    std::vector<Rank> reached{root};
    for (std::size_t i = 0; i < reached.size(); ++i)
        for (const Rank child : children[reached[i].at()]) {
            if (!child.valid() || child.at() >= children.size() || child == root || parent[child.at()].valid())
                throw InvalidInput("rank " + std::to_string(child.value) +
                                   " is a child in the tree: expected each rank but the root once");
            parent[child.at()] = reached[i];
            reached.push_back(child);
        }
    if (reached.size() != children.size())
        throw InvalidInput("the tree reaches " + std::to_string(reached.size()) + " of " +
                           std::to_string(children.size()) + " ranks");
    return parent;
}

void split(std::span<const Rank> stretch, std::int32_t fanout, std::vector<std::vector<Rank>>& children) {
    while (stretch.size() > 1) {
        const Rank parent = stretch.front();
        stretch = stretch.subspan(1);
        const std::size_t parts = std::min(stretch.size(), static_cast<std::size_t>(fanout));
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t size = stretch.size() / (parts - part);
            children[parent.at()].push_back(stretch.front());
            if (part + 1 == parts) break;  // in this loop, so that a chain is not as deep as it is long
            split(stretch.first(size), fanout, children);
            stretch = stretch.subspan(size);
        }
    }
}

}  // namespace

Schedule bcast_down(std::span<const std::vector<Rank>> children, Rank root, std::int32_t segments) {
    if (segments < 1) throw InvalidInput("number of segments is " + std::to_string(segments) + ": expected at least 1");
    const std::vector<Rank> parent = parents_of(children, root);
    Schedule schedule{
        Collective::bcast, "pipelined_tree", static_cast<std::int32_t>(children.size()), root, segments, {}};
    schedule.ranks.resize(children.size());
    for (std::size_t r = 0; r < children.size(); ++r)
        for (std::int32_t segment = 0; segment < segments; ++segment) {
            std::vector<std::int32_t> after;
            if (parent[r].valid()) after = {schedule.ranks[r].add(OpKind::recv, parent[r], {{segment, 1}}, {})};
            for (const Rank child : children[r]) schedule.ranks[r].add(OpKind::send, child, {{segment, 1}}, after);
        }
    return schedule;
}

std::vector<std::vector<Rank>> split_tree(std::span<const Rank> order, std::int32_t fanout) {
    if (fanout < 1) throw InvalidInput("fanout is " + std::to_string(fanout) + ": expected at least 1");
    std::vector<std::vector<Rank>> children(order.size());
    for (const Rank rank : order)
        if (!rank.valid() || rank.at() >= order.size())
            throw InvalidInput("order names rank " + std::to_string(rank.value) + ": expected 0 to " +
                               std::to_string(order.size() - 1));
    split(order, fanout, children);
    return children;
}

Schedule reversed(const Schedule& schedule) {
    const bool combining = schedule.collective == Collective::bcast;
    if (!combining && schedule.collective != Collective::scatter)
        throw InvalidInput("a schedule of " + std::string(name_of(schedule.collective)) + " cannot be reversed",
                           "expected bcast or scatter");
    if (const auto wrong = malformations(schedule); !wrong.empty())
        throw InvalidInput("the schedule is malformed: " + wrong.front());
    Schedule result{combining ? Collective::reduce : Collective::gather,
                    schedule.algorithm,
                    schedule.num_ranks,
                    schedule.root,
                    schedule.segments,
                    {}};
    for (const RankSchedule& part : schedule.ranks) {
        const std::size_t n = part.ops.size();
        std::vector<std::vector<std::int32_t>> after(n);  // [op of the result]
        const auto mirrored = [n](std::size_t op) { return n - 1 - op; };
        for (std::size_t i = 0; i < n; ++i)
            for (const std::int32_t d : part.dependencies_of(part.ops[i]))
                after[mirrored(static_cast<std::size_t>(d))].push_back(static_cast<std::int32_t>(mirrored(i)));
        RankSchedule& back = result.ranks.emplace_back();
        std::vector<std::int32_t> combined(
            static_cast<std::size_t>(num_chunks(schedule.collective, schedule.num_ranks, schedule.segments)), -1);
        for (std::size_t i = n; i-- > 0;) {
            const Op& op = part.ops[i];
            const std::vector<ChunkRange> chunks(part.chunks_of(op).begin(), part.chunks_of(op).end());
            std::vector<std::int32_t>& dependencies = after[mirrored(i)];
            const bool receives = op.kind == OpKind::send;
            // Two combinations into one chunk are ordered, and its sending follows them all.
            const auto self = static_cast<std::int32_t>(mirrored(i));
            if (combining)
                for (const ChunkRange& range : chunks)
                    for (std::int32_t c = range.first; c < range.first + range.count; ++c) {
                        std::int32_t& last = combined[static_cast<std::size_t>(c)];
                        if (last >= 0) dependencies.push_back(last);
                        if (receives) last = self;
                    }
            std::sort(dependencies.begin(), dependencies.end());
            dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
            const OpKind kind = !receives ? OpKind::send : combining ? OpKind::recv_reduce_right : OpKind::recv;
            back.add(kind, op.peer, chunks, dependencies);
        }
    }
    return result;
}

namespace {

/// [op] how many of the operations before it have the same direction and peer.
std::vector<std::int32_t> ordinals_of(const RankSchedule& part) {
    std::map<std::pair<bool, Rank>, std::int32_t> seen;
    std::vector<std::int32_t> ordinals;
    for (const Op& op : part.ops) ordinals.push_back(seen[{op.kind == OpKind::send, op.peer}]++);
    return ordinals;
}

}  // namespace

Schedule one_send_at_a_time(const Schedule& schedule) {
    if (schedule.collective != Collective::bcast && schedule.collective != Collective::scatter)
        throw InvalidInput(
            "sends of a schedule of " + std::string(name_of(schedule.collective)) + " cannot be put one after another",
            "expected bcast or scatter");
    if (const auto wrong = malformations(schedule); !wrong.empty())
        throw InvalidInput("the schedule is malformed: " + wrong.front());
    std::set<std::tuple<Rank, Rank, std::int32_t>>
        answered;  // messages whose receiver answers: another send waits for it
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        const RankSchedule& part = schedule.ranks[r];
        const std::vector<std::int32_t> ordinals = ordinals_of(part);
        std::optional<std::size_t> last;
        for (std::size_t i = 0; i < part.ops.size(); ++i) {
            if (part.ops[i].kind != OpKind::send) continue;
            if (last) answered.insert({Rank{static_cast<std::int32_t>(r)}, part.ops[*last].peer, ordinals[*last]});
            last = i;
        }
    }
    Schedule result = schedule;
    for (std::size_t r = 0; r < result.ranks.size(); ++r) {
        const RankSchedule& part = schedule.ranks[r];
        const Rank self{static_cast<std::int32_t>(r)};
        const std::vector<std::int32_t> ordinals = ordinals_of(part);
        result.ranks[r] = {};
        std::vector<std::int32_t> place;  // [op] where it is in the result
        std::int32_t answer = -1;
        for (std::size_t i = 0; i < part.ops.size(); ++i) {
            const Op& op = part.ops[i];
            const auto chunks = part.chunks_of(op);
            std::vector<std::int32_t> after;
            for (const std::int32_t d : part.dependencies_of(op)) after.push_back(place[static_cast<std::size_t>(d)]);
            const bool sends = op.kind == OpKind::send;
            if (sends && answer >= 0) after.push_back(answer);
            place.push_back(result.ranks[r].add(op.kind, op.peer, std::vector(chunks.begin(), chunks.end()), after));
            const auto message =
                sends ? std::tuple(self, op.peer, ordinals[i]) : std::tuple(op.peer, self, ordinals[i]);
            if (!answered.contains(message)) continue;
            const std::vector<ChunkRange> nothing;
            if (sends) {
                answer = result.ranks[r].add(OpKind::recv, op.peer, nothing, std::vector{place.back()});
            } else {
                result.ranks[r].add(OpKind::send, op.peer, nothing, std::vector{place.back()});
            }
        }
    }
    return result;
}

namespace {

struct Turn {
    std::int32_t ordinal;
    std::size_t schedule, op;
    auto operator<=>(const Turn&) const = default;
};

}  // namespace

Schedule merged(std::span<const Schedule> schedules) {
    if (schedules.empty()) throw InvalidInput("there is no schedule to merge");
    Schedule result = schedules.front();
    for (const Schedule& schedule : schedules) {
        if (schedule.collective != result.collective || schedule.num_ranks != result.num_ranks ||
            schedule.root != result.root || schedule.segments != result.segments)
            throw InvalidInput("the schedules to merge differ in collective, ranks, root or segments");
        if (const auto wrong = malformations(schedule); !wrong.empty())
            throw InvalidInput("a schedule to merge is malformed: " + wrong.front());
    }
    const auto count = static_cast<std::int32_t>(schedules.size());
    if (result.segments > (1 << 30) / count) throw InvalidInput("the schedules to merge have too many segments");
    result.segments *= count;
    for (std::size_t r = 0; r < result.ranks.size(); ++r) {
        result.ranks[r] = {};
        // By ordinal, which both ends of a message agree on; so the n-th send still meets the n-th receive.
        std::vector<Turn> turns;
        for (std::size_t s = 0; s < schedules.size(); ++s) {
            const std::vector<std::int32_t> ordinals = ordinals_of(schedules[s].ranks[r]);
            if (!std::is_sorted(ordinals.begin(), ordinals.end()))
                throw InvalidInput("the operations of rank " + std::to_string(r) + " cannot be merged with others",
                                   "expected a chain or ring");
            for (std::size_t i = 0; i < ordinals.size(); ++i) turns.push_back({ordinals[i], s, i});
        }
        std::sort(turns.begin(), turns.end());
        std::vector<std::vector<std::int32_t>> now(schedules.size());  // [schedule][op] where it is in the result
        for (const auto& [_, s, i] : turns) {
            const RankSchedule& part = schedules[s].ranks[r];
            std::vector<ChunkRange> chunks;
            for (const ChunkRange& range : part.chunks_of(part.ops[i]))
                for (std::int32_t c = range.first; c < range.first + range.count; ++c)
                    chunks.push_back({c * count + static_cast<std::int32_t>(s), 1});
            std::vector<std::int32_t> after;
            for (const std::int32_t d : part.dependencies_of(part.ops[i]))
                after.push_back(now[s][static_cast<std::size_t>(d)]);
            now[s].push_back(result.ranks[r].add(part.ops[i].kind, part.ops[i].peer, chunks, after));
        }
    }
    return result;
}

}  // namespace hocket::search
