// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/pipelined.hpp"

#include <algorithm>
#include <numeric>

#include "hocket/base/error.hpp"

namespace hocket::search {
namespace {

using Segments = std::uint64_t;  // a bit each

std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

class Rounds {
public:
    Rounds(const Graph& graph, std::int32_t segments, RoundRules rules, base::Random& random)
        : graph_(graph),
          rules_(rules),
          random_(random),
          segments_(segments),
          all_(~Segments{0} >> static_cast<unsigned>(most_segments - segments)),
          weighs_chance_(random.below(2) == 1),
          has_(graph.size(), 0),
          coming_(graph.size(), 0),
          sends_(graph.size(), 0),
          order_(graph.size()) {
        has_[0] = all_;
        std::iota(order_.begin(), order_.end(), 0);
        offset_.reserve(graph.size());
        std::size_t directions = 0;
        for (const auto& neighbours : graph) {
            offset_.push_back(directions);
            directions += neighbours.size();
        }
        taken_.resize(directions);
    }

    std::optional<std::vector<RoundMessage>> run(std::int32_t most_rounds) {
        for (round_ = 0; round_ < most_rounds; ++round_) {
            round();
            bool complete = true;
            for (std::size_t node = 0; node < has_.size(); ++node) {
                has_[node] |= coming_[node];
                complete = complete && has_[node] == all_;
            }
            if (complete) return std::move(messages_);
        }
        return std::nullopt;
    }

private:
    void round() {
        std::ranges::fill(sends_, 0);
        std::ranges::fill(coming_, 0);
        std::ranges::fill(taken_, 0);
        for (std::size_t i = order_.size() - 1; i > 0; --i)
            std::swap(order_[i], order_[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(i) + 1))]);
        // The root is the only source of what nobody else has: on each of its circuits a new segment.
        const std::size_t new_ones = rules_.send_on_all ? graph_[0].size() : 1;
        for (std::size_t i = 0; i < new_ones && fresh_ < segments_; ++i)
            if (send(0, fresh_)) ++fresh_;
        for (std::int32_t segment = fresh_ - 1; segment >= 0; --segment) {
            forward(segment, true);
            forward(segment, false);
        }
    }

    /// First by those who can give it to one neighbour only.
    void forward(std::int32_t segment, bool only_one) {
        for (const std::int32_t node : order_) {
            if (!(has_[at(node)] >> static_cast<unsigned>(segment) & 1U)) continue;
            if (!rules_.send_on_all) {
                // Until the root has sent each segment once, it sends new ones.
                if (sends_[at(node)] || (node == 0 && fresh_ < segments_)) continue;
                if (only_one && choices(node, segment) > 1) continue;
                send(node, segment);
            } else {
                while (send(node, segment)) {
                }
            }
        }
    }

    [[nodiscard]] bool lacks(std::int32_t node, std::int32_t segment) const {
        return !((has_[at(node)] | coming_[at(node)]) >> static_cast<unsigned>(segment) & 1U);
    }
    [[nodiscard]] bool can_take(std::int32_t node, std::int32_t segment) const {
        return lacks(node, segment) && !(rules_.receive_one && coming_[at(node)] != 0);
    }
    [[nodiscard]] std::ptrdiff_t choices(std::int32_t node, std::int32_t segment) const {
        return std::ranges::count_if(graph_[at(node)], [&](std::int32_t other) { return can_take(other, segment); });
    }

    /// To the neighbour that has most neighbours without the segment.
    bool send(std::int32_t node, std::int32_t segment) {
        const auto& neighbours = graph_[at(node)];
        std::size_t best = neighbours.size();
        std::int64_t best_score = -1;
        for (std::size_t i = 0; i < neighbours.size(); ++i) {
            if (taken_[offset_[at(node)] + i] || !can_take(neighbours[i], segment)) continue;
            std::int64_t score = 0;
            for (const std::int32_t next : graph_[at(neighbours[i])]) score += lacks(next, segment) ? 4 : 0;
            if (weighs_chance_) score += random_.below(6);
            score = score * 8 + random_.below(8);
            if (score > best_score) {
                best_score = score;
                best = i;
            }
        }
        if (best == neighbours.size()) return false;
        taken_[offset_[at(node)] + best] = 1;
        sends_[at(node)] = 1;
        coming_[at(neighbours[best])] |= Segments{1} << static_cast<unsigned>(segment);
        messages_.push_back({round_, node, neighbours[best], segment});
        return true;
    }

    const Graph& graph_;
    RoundRules rules_;
    base::Random& random_;
    std::int32_t segments_;
    Segments all_;
    bool weighs_chance_;
    std::int32_t round_ = 0, fresh_ = 0;  // the first segment that the root has not sent
    std::vector<Segments> has_, coming_;
    std::vector<char> sends_;
    std::vector<std::int32_t> order_;
    std::vector<std::size_t> offset_;  // of a node's circuits in taken_
    std::vector<char> taken_;
    std::vector<RoundMessage> messages_;
};

}  // namespace

std::optional<std::vector<RoundMessage>> round_broadcast(const Graph& graph, std::int32_t segments, RoundRules rules,
                                                         std::int32_t most_rounds, base::Random& random) {
    HOCKET_ASSERT(segments >= 1 && segments <= most_segments, "segments out of range");
    return Rounds(graph, segments, rules, random).run(most_rounds);
}

/* T = m - 1 + p/2 rounds for m segments. In round t the root sends clockwise if t is even and counter-clockwise if t is
   odd, and each message goes on for min(T - t, p - 1) hops. Node u, u hops clockwise from the root, sends on what came
   clockwise in rounds of the parity of u, and what came counter-clockwise in rounds of the parity of 1 + p - u: never
   both, as p is even. It receives both in rounds of different parity too, so one message in a round.
   A message with p - 1 hops serves all. The hops of the last rounds are 1, 2, ..., min(T, p - 2); hops h and p - 1 - h
   together serve all as well, and go in opposite directions as p - 1 is odd. If T >= p - 1, the first T - (p - 2)
   rounds and (p - 2) / 2 pairs serve T - p/2 + 1 = m segments. If T < p - 1, hops p - 1 - T to T are 2 T - p + 2
   messages, again T - p/2 + 1 pairs. Fewer rounds are impossible: the root sends its m-th segment not before round
   m - 1, and one segment takes p/2. */
std::vector<RoundMessage> ring_broadcast(std::int32_t p, std::int32_t segments) {
    HOCKET_ASSERT(p >= 2 && p % 2 == 0 && segments >= 1, "a ring of an odd number of nodes");
    const std::int32_t rounds = segments - 1 + p / 2;
    std::vector<RoundMessage> messages;
    const auto send_round_the_ring = [&](std::int32_t hops, std::int32_t segment) {
        const std::int32_t begin = rounds - hops;
        for (std::int32_t hop = 0; hop < std::min(hops, p - 1); ++hop) {
            const auto node = [&](std::int32_t distance) { return begin % 2 == 0 ? distance % p : (p - distance) % p; };
            messages.push_back({begin + hop, node(hop), node(hop + 1), segment});
        }
    };
    std::int32_t segment = 0;
    for (std::int32_t hops = rounds; hops >= p - 1; --hops) send_round_the_ring(hops, segment++);
    for (std::int32_t hops = std::min(rounds, p - 2); hops >= p / 2; --hops) {
        send_round_the_ring(hops, segment);
        send_round_the_ring(p - 1 - hops, segment++);
    }
    HOCKET_ASSERT(segment == segments, "segments left out");
    std::ranges::stable_sort(messages, {}, &RoundMessage::round);
    return messages;
}

circuits::Draft draft_of(const std::vector<RoundMessage>& messages, double segment_bytes) {
    circuits::Draft draft{segment_bytes, false, {}};
    for (const RoundMessage& message : messages)
        draft.messages.push_back({0, message.round, message.from, message.to, {message.segment}});
    return draft;
}

}  // namespace hocket::search
