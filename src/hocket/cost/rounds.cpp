// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/rounds.hpp"

#include <algorithm>
#include <compare>
#include <numeric>
#include <utility>

#include "hocket/base/error.hpp"

namespace hocket::cost {

namespace {

/// Gives each op of all ranks the number of its round, from 1 on; a receive that of its message, or a later one.
class Numbering {
public:
    Numbering(std::span<const RankSchedule> parts, std::int32_t segments) : parts_(parts), segments_(segments) {
        for (const RankSchedule& part : parts) {
            first_.push_back(round_.size());
            round_.resize(round_.size() + part.ops.size(), 0);
        }
        waits_for_.resize(round_.size(), 0);
        message_.resize(round_.size(), none);
        join_messages();
        list_followers();
    }

    Rounds run() {
        std::vector<std::size_t> ready;
        for (std::size_t op = 0; op < round_.size(); ++op)
            if (waits_for_[op] == 0) ready.push_back(op);
        std::size_t num_done = 0;
        for (; num_done < ready.size(); ++num_done) {
            const std::size_t op = ready[num_done];
            if (is_send_[op]) ++round_[op];
            for (std::size_t i = first_follower_[op]; i < first_follower_[op + 1]; ++i) {
                const std::size_t follower = followers_[i];
                round_[follower] = std::max(round_[follower], round_[op]);
                if (--waits_for_[follower] == 0) ready.push_back(follower);
            }
        }
        HOCKET_ASSERT(num_done == round_.size(), "a schedule that waits for itself");
        return folded();
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    /// The k-th send of a pair belongs to its k-th receive.
    void join_messages() {
        std::vector<std::pair<std::size_t, std::size_t>> sends, receives;  // pair of ranks, number
        const std::size_t p = parts_.size();
        each_op([&](std::size_t rank, const Op& op, std::size_t number) {
            is_send_.push_back(op.kind == OpKind::send);
            if (is_send_.back())
                sends.emplace_back(rank * p + op.peer.at(), number);
            else
                receives.emplace_back(op.peer.at() * p + rank, number);
        });
        std::sort(sends.begin(), sends.end());
        std::sort(receives.begin(), receives.end());
        HOCKET_ASSERT(sends.size() == receives.size(), "a message without a receive");
        for (std::size_t i = 0; i < sends.size(); ++i) {
            HOCKET_ASSERT(sends[i].first == receives[i].first, "a message without a receive");
            message_[receives[i].second] = sends[i].second;
        }
    }

    /// A receive follows its message too.
    void list_followers() {
        first_follower_.assign(round_.size() + 1, 0);
        each_edge([&](std::size_t before, std::size_t after) {
            ++first_follower_[before + 1];
            ++waits_for_[after];
        });
        std::partial_sum(first_follower_.begin(), first_follower_.end(), first_follower_.begin());
        followers_.resize(first_follower_.back());
        std::vector<std::size_t> next(first_follower_.begin(), first_follower_.end() - 1);
        each_edge([&](std::size_t before, std::size_t after) { followers_[next[before]++] = after; });
    }

    template <class Visit>
    void each_op(const Visit& visit) const {
        std::size_t number = 0;
        for (std::size_t rank = 0; rank < parts_.size(); ++rank)
            for (const Op& op : parts_[rank].ops) visit(rank, op, number++);
    }
    template <class Visit>
    void each_edge(const Visit& visit) const {
        each_op([&](std::size_t rank, const Op& op, std::size_t number) {
            for (const std::int32_t dependency : parts_[rank].dependencies_of(op))
                visit(first_[rank] + static_cast<std::size_t>(dependency), number);
            if (message_[number] != none) visit(message_[number], number);
        });
    }

    Rounds folded() const {
        std::vector<bool> is_reduced(round_.size(), false);
        each_op([&](std::size_t, const Op& op, std::size_t number) {
            if (reduces(op.kind)) is_reduced[message_[number]] = true;
        });
        std::vector<std::vector<Rounds::Message>> rounds;
        each_op([&](std::size_t rank, const Op& op, std::size_t number) {
            if (op.kind != OpKind::send) return;
            std::int64_t chunks = 0;
            for (const ChunkRange& range : parts_[rank].chunks_of(op)) chunks += range.count;
            const auto round = static_cast<std::size_t>(round_[number]);
            if (rounds.size() < round) rounds.resize(round);
            rounds[round - 1].push_back({static_cast<std::int32_t>(rank), op.peer.value,
                                         static_cast<double>(chunks) / segments_, is_reduced[number]});
        });
        Rounds found{static_cast<std::int32_t>(parts_.size()), {}};
        for (auto& messages : rounds) {
            if (!found.rounds.empty() && found.rounds.back().messages == messages)
                ++found.rounds.back().times;
            else
                found.rounds.push_back({std::move(messages), 1});
        }
        return found;
    }

    std::span<const RankSchedule> parts_;
    std::int32_t segments_;
    // By op, numbered rank by rank:
    std::vector<std::int32_t> round_, waits_for_;
    std::vector<bool> is_send_;
    std::vector<std::size_t> message_;  // of a receive the send that it takes
    std::vector<std::size_t> first_follower_, followers_;
    std::vector<std::size_t> first_;  // [rank] its first op
};

/// What each rank has to do, in a round or in all.
struct Work {
    explicit Work(std::size_t num_ranks) : send_s(num_ranks), receive_s(num_ranks), combined(num_ranks) {}
    Sums send_s, receive_s, combined;
    void clear() {
        send_s.clear();
        receive_s.clear();
        combined.clear();
    }
};

/// A message between two ranks.
struct Exchange {
    std::int32_t low, high, source;
    double blocks;
    auto operator<=>(const Exchange&) const = default;
};

/// Of pairs that send each other messages in one round the size that both have at least; the largest of all pairs.
double largest_both_ways(std::vector<Exchange>& messages) {
    std::sort(messages.begin(), messages.end());
    double largest = 0;
    for (std::size_t i = 1; i < messages.size(); ++i) {
        const Exchange &one = messages[i - 1], &other = messages[i];
        if (one.low == other.low && one.high == other.high && one.source != other.source)
            largest = std::max(largest, std::min(one.blocks, other.blocks));
    }
    return largest;
}

}  // namespace

Rounds rounds_of(std::span<const RankSchedule> parts, std::int32_t segments) {
    return Numbering(parts, segments).run();
}

RoundTimes::RoundTimes(const Rounds& rounds, const Network& network, const CostModel& costs,
                       std::span<const Rank> ranks) {
    LinkSums of_links(static_cast<std::size_t>(network.num_capacities()));
    *this = RoundTimes(rounds, network, costs, ranks, of_links);
}

RoundTimes::RoundTimes(const Rounds& rounds, const Network& network, const CostModel& costs,
                       std::span<const Rank> ranks, LinkSums& of_links)
    : rendezvous_bytes_(static_cast<double>(costs.rendezvous_limit_bytes())) {
    const auto num_ranks = static_cast<std::size_t>(rounds.num_ranks);
    Work now(num_ranks), all(num_ranks);
    of_links.in_all.clear();
    double all_work_s = 0;
    const auto on_cores = [&](double work_s) { return costs->cores > 0 ? work_s / costs->cores : 0; };
    std::vector<LinkId> route;
    std::vector<Exchange> pairs;
    for (const Rounds::Round& round : rounds.rounds) {
        now.clear();
        of_links.in_round.clear();
        pairs.clear();
        const auto times = static_cast<double>(round.times);
        double latency_s = 0, largest = 0, work_s = 0;
        const auto charge = [&](Sums Work::* sums, std::size_t place, double value) {
            (now.*sums).add(place, value);
            (all.*sums).add(place, times * value);
        };
        for (const Rounds::Message& message : round.messages) {
            const auto source = static_cast<std::size_t>(message.source);
            const auto target = static_cast<std::size_t>(message.target);
            network.route(ranks[source], ranks[target], route);
            double route_s = 0;
            for (const LinkId l : route) {
                const Link& link = network.link(l);
                route_s += link.latency_s;
                const double s_per_byte =
                    message.copies * message.blocks / (link.bandwidth_bytes_per_s * costs->link_efficiency);
                const auto capacity = static_cast<std::size_t>(link.capacity);
                of_links.in_round.add(capacity, s_per_byte);
                of_links.in_all.add(capacity, times * s_per_byte);
            }
            latency_s = std::max(latency_s, route_s);
            largest = std::max(largest, message.blocks);
            const bool is_on_host =
                costs->host_overhead_s && network.host_of(ranks[source]) == network.host_of(ranks[target]);
            const double send_s = is_on_host ? *costs->host_overhead_s : costs->send_overhead_s;
            const double receive_s = is_on_host ? *costs->host_overhead_s : costs->receive_overhead_s;
            charge(&Work::send_s, source, message.copies * send_s);
            charge(&Work::receive_s, target, message.copies * receive_s);
            work_s += message.copies * (send_s + receive_s);
            if (message.reduces) charge(&Work::combined, target, message.copies * message.blocks);
            const auto [low, high] = std::minmax(message.source, message.target);
            pairs.push_back({low, high, message.source, message.blocks});
        }
        const double largest_pair = largest_both_ways(pairs);
        const double overhead_s = std::max(now.send_s.largest() + now.receive_s.largest(), on_cores(work_s));
        all_work_s += times * work_s;
        const double reduce_s_per_byte = now.combined.largest() / costs->reduce_bytes_per_s;
        const Term term{times,
                        overhead_s + latency_s,
                        2 * latency_s + overhead_s,
                        of_links.in_round.largest() + reduce_s_per_byte,
                        largest,
                        largest_pair};
        if (!terms_.empty() && terms_.back().takes_as_long_as(term)) {
            terms_.back().times += times;
        } else {
            terms_.push_back(term);
        }
    }
    stage_fixed_s_ = std::max(largest_sum(all.send_s, all.receive_s), on_cores(all_work_s));
    stage_s_per_byte_ = std::max(of_links.in_all.largest(), all.combined.largest() / costs->reduce_bytes_per_s);
}

bool RoundTimes::waits(double block_bytes, std::int32_t segments) const {
    const double bytes = block_bytes / segments;
    return std::any_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) { return bytes * term.largest >= rendezvous_bytes_; });
}

double RoundTimes::seconds(double block_bytes, std::int32_t segments, bool takes_turns) const {
    const double bytes = block_bytes / segments;
    double sum_s = 0;
    for (const Term& term : terms_) {
        double time_s = term.fixed_s;
        double wire_s = bytes * term.s_per_byte;
        if (bytes * term.largest >= rendezvous_bytes_) time_s += term.handshake_s;
        if (takes_turns && term.largest_pair > 0 && bytes * term.largest_pair >= rendezvous_bytes_) wire_s *= turns;
        sum_s += term.times * (time_s + wire_s);
    }
    return sum_s + (segments - 1) * std::max(stage_fixed_s_, bytes * stage_s_per_byte_);
}

}  // namespace hocket::cost
