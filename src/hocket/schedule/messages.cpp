// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What is known of messages without executing: partners, chunk lists, races.

#include <algorithm>
#include <map>
#include <unordered_map>

#include "hocket/schedule/checks.hpp"

namespace hocket::schedule {

namespace {

/// The same chunks in the same order with the fewest ranges.
std::vector<ChunkRange> joined(std::span<const ChunkRange> ranges) {
    std::vector<ChunkRange> out;
    for (const ChunkRange& range : ranges) {
        if (!out.empty() && out.back().first + out.back().count == range.first)
            out.back().count += range.count;
        else
            out.push_back(range);
    }
    return out;
}

std::string print(const std::vector<ChunkRange>& ranges) {
    std::string text;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (i == 8) return text + ", ...";
        text += (i == 0 ? "" : ", ") + std::to_string(ranges[i].first);
        if (ranges[i].count > 1) text += " to " + std::to_string(ranges[i].first + ranges[i].count - 1);
    }
    return text;
}

/// Which ops must have completed before another starts, within one rank.
class Order {
public:
    explicit Order(const RankSchedule& rank) : rank_(rank), seen_(rank.ops.size(), -1) {}

    /// True if `late` depends on `early`, perhaps through others. Ops smaller than `early` cannot lie between.
    bool before(std::int32_t early, std::int32_t late) {
        if (early == known_early_ && late == known_late_) return true;
        ++search_;
        stack_.assign(1, late);
        while (!stack_.empty()) {
            const Op& op = rank_.ops[static_cast<std::size_t>(stack_.back())];
            stack_.pop_back();
            for (const std::int32_t dependency : rank_.dependencies_of(op)) {
                if (dependency == early) {
                    known_early_ = early;
                    known_late_ = late;
                    return true;
                }
                std::int32_t& mark = seen_[static_cast<std::size_t>(dependency)];
                if (dependency > early && mark != search_) {
                    mark = search_;
                    stack_.push_back(dependency);
                }
            }
        }
        return false;
    }

private:
    const RankSchedule& rank_;
    std::vector<std::int32_t> seen_;  ///< [op] number of the last search that met it
    std::vector<std::int32_t> stack_;
    std::int32_t search_ = -1;
    std::int32_t known_early_ = -1,
                 known_late_ = -1;  ///< the last answer: neighbouring chunks ask the same question
};

}  // namespace

Matching match(const Schedule& schedule, Violations& violations) {
    struct Pair {
        std::vector<std::int32_t> sends, receives;
    };
    std::map<std::pair<std::int32_t, std::int32_t>, Pair> pairs;  // (source, target)
    Matching matching;
    for (std::int32_t r = 0; r < schedule.num_ranks; ++r) {
        const RankSchedule& rank = schedule.ranks[static_cast<std::size_t>(r)];
        matching.emplace_back(rank.ops.size(), -1);
        for (std::size_t i = 0; i < rank.ops.size(); ++i) {
            const auto index = static_cast<std::int32_t>(i);
            const std::int32_t peer = rank.ops[i].peer.value;
            if (rank.ops[i].kind == OpKind::send)
                pairs[{r, peer}].sends.push_back(index);
            else
                pairs[{peer, r}].receives.push_back(index);
        }
    }
    for (const auto& [ends, pair] : pairs) {
        const auto [source, target] = ends;
        const std::size_t both = std::min(pair.sends.size(), pair.receives.size());
        for (std::size_t k = 0; k < both; ++k) {
            matching[static_cast<std::size_t>(source)][static_cast<std::size_t>(pair.sends[k])] = pair.receives[k];
            matching[static_cast<std::size_t>(target)][static_cast<std::size_t>(pair.receives[k])] = pair.sends[k];
        }
        if (pair.sends.size() == pair.receives.size()) continue;
        const bool more_sends = pair.sends.size() > both;
        violations.push_back(describe(schedule, Rank{more_sends ? source : target},
                                      more_sends ? pair.sends[both] : pair.receives[both]) +
                             ": no op at the other end: rank " + std::to_string(source) + " sends " +
                             std::to_string(pair.sends.size()) + " messages to rank " + std::to_string(target) +
                             ", which receives " + std::to_string(pair.receives.size()));
    }
    return matching;
}

void check_chunks_of_messages(const Schedule& schedule, const Matching& matching, Violations& violations) {
    for (std::int32_t r = 0; r < schedule.num_ranks; ++r) {
        const RankSchedule& source = schedule.ranks[static_cast<std::size_t>(r)];
        for (std::size_t i = 0; i < source.ops.size(); ++i) {
            if (source.ops[i].kind != OpKind::send) continue;
            const Rank peer = source.ops[i].peer;
            const std::int32_t other = matching[static_cast<std::size_t>(r)][i];
            const RankSchedule& target = schedule.ranks[peer.at()];
            const auto sent = joined(source.chunks_of(source.ops[i]));
            const auto received = joined(target.chunks_of(target.ops[static_cast<std::size_t>(other)]));
            if (sent != received)
                violations.push_back(describe(schedule, peer, other) + ": expected chunks " + print(sent) +
                                     " as sent by op " + std::to_string(i) + " of rank " + std::to_string(r) +
                                     ", found " + print(received));
        }
    }
}

void check_races(const Schedule& schedule, Violations& violations) {
    struct Uses {
        std::int32_t write = -1;          ///< the last op that wrote the chunk
        std::vector<std::int32_t> reads;  ///< since then
    };
    for (std::int32_t r = 0; r < schedule.num_ranks; ++r) {
        const RankSchedule& rank = schedule.ranks[static_cast<std::size_t>(r)];
        Order order(rank);
        std::unordered_map<std::int32_t, Uses> chunks;
        const auto ordered = [&](std::int32_t early, std::int32_t late, std::int32_t chunk) {
            if (early < 0 || order.before(early, late)) return;
            violations.push_back(describe(schedule, Rank{r}, late) + ": chunk " + std::to_string(chunk) +
                                 (early == late
                                      ? ": is listed twice in one message"
                                      : ": expected to depend on op " + std::to_string(early) + " (" +
                                            std::string(name_of(rank.ops[static_cast<std::size_t>(early)].kind)) +
                                            "), which uses the same chunk; found no chain of dependencies"));
        };
        for (std::size_t i = 0; i < rank.ops.size(); ++i) {
            const auto index = static_cast<std::int32_t>(i);
            for (const ChunkRange& range : rank.chunks_of(rank.ops[i]))
                for (std::int32_t chunk = range.first; chunk - range.first < range.count; ++chunk) {
                    Uses& uses = chunks[chunk];
                    ordered(uses.write, index, chunk);
                    if (rank.ops[i].kind == OpKind::send) {
                        uses.reads.push_back(index);
                    } else {
                        for (const std::int32_t read : uses.reads) ordered(read, index, chunk);
                        uses.write = index;
                        uses.reads.clear();
                    }
                }
        }
    }
}

}  // namespace hocket::schedule
