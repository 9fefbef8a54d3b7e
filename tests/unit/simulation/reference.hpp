// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "hocket/simulation/simulate.hpp"

/// The slow and obvious simulator that the engine is compared with: no queues, no matching ahead, every step looks at
/// every op and every flow again. It shares no code with the engine, and no idea: rates of max-min fairness come from
/// raising all flows together by small amounts, not from shares.
namespace hocket::reference {

constexpr double never = std::numeric_limits<double>::infinity();

struct Message {
    std::size_t source, target, send, recv;
    double bytes_left;
    std::vector<LinkId> route;
    double latency_s = 0, latency_back_s = 0;
    bool overhead_paid = false, posted = false, moving = false, left = false, arrived = false, taken = false;
    double queued_s = never, arrival_s = never;
    double asked_s = never, answered_s = never;  // by rendezvous: when the receiver knows, when the sender knows
};

inline std::vector<double> rates(const std::vector<std::vector<int>>& capacities_of_flow,
                                 const std::vector<double>& bandwidth, Sharing sharing) {
    const std::size_t n = capacities_of_flow.size();
    std::vector<double> rate(n, 0);
    std::vector<int> flows_on(bandwidth.size(), 0);
    for (const auto& capacities : capacities_of_flow)
        for (const int c : capacities) ++flows_on[static_cast<std::size_t>(c)];
    if (sharing != Sharing::maxmin) {
        for (std::size_t f = 0; f < n; ++f) {
            rate[f] = never;
            for (const int c : capacities_of_flow[f]) {
                const auto at = static_cast<std::size_t>(c);
                rate[f] = std::min(rate[f], sharing == Sharing::none ? bandwidth[at] : bandwidth[at] / flows_on[at]);
            }
        }
        return rate;
    }
    std::vector<bool> grows(n, true);
    while (std::count(grows.begin(), grows.end(), true) > 0) {
        std::vector<double> used(bandwidth.size(), 0);
        std::vector<int> growing(bandwidth.size(), 0);
        for (std::size_t f = 0; f < n; ++f)
            for (const int c : capacities_of_flow[f]) {
                used[static_cast<std::size_t>(c)] += rate[f];
                growing[static_cast<std::size_t>(c)] += grows[f] ? 1 : 0;
            }
        double raise = never;
        for (std::size_t c = 0; c < bandwidth.size(); ++c)
            if (growing[c] > 0) raise = std::min(raise, (bandwidth[c] - used[c]) / growing[c]);
        for (std::size_t f = 0; f < n; ++f)
            if (grows[f]) rate[f] += raise;
        for (std::size_t f = 0; f < n; ++f)
            for (const int c : capacities_of_flow[f]) {
                const auto at = static_cast<std::size_t>(c);
                if (used[at] + raise * growing[at] >= bandwidth[at] * (1 - 1e-12)) grows[f] = false;
            }
    }
    return rate;
}

/// Intervals [rank][op]. Programs with ties between ops of a rank may come out differently. By rendezvous without
/// overheads and ordered pairs alone: requests and answers take latencies here, no place in a queue and no processor.
inline std::vector<std::vector<Timeline::Interval>> simulate(const Program& program, const Network& network,
                                                             const SimulationOptions& options) {
    const std::size_t p = program.ranks.size();
    std::vector<std::vector<Timeline::Interval>> intervals(p);
    std::vector<std::vector<double>> ready_s(p);
    std::vector<double> busy_until_s(p, 0);
    std::vector<double> bandwidth(static_cast<std::size_t>(network.num_capacities()));
    for (const Link& link : network.links())
        bandwidth[static_cast<std::size_t>(link.capacity)] = link.bandwidth_bytes_per_s;

    std::vector<Message> messages;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> message_of;  // (rank, op)
    for (std::size_t s = 0; s < p; ++s) {
        for (std::size_t i = 0; i < program.ranks[s].ops.size(); ++i) {
            const ProgramOp& send = program.ranks[s].ops[i];
            if (send.kind != ProgramOpKind::send) continue;
            const std::size_t t = send.peer.at();
            for (std::size_t j = 0; j < program.ranks[t].ops.size(); ++j) {
                const ProgramOp& recv = program.ranks[t].ops[j];
                if (recv.kind != ProgramOpKind::recv || recv.peer.at() != s || recv.tag != send.tag ||
                    message_of.contains({t, j}))
                    continue;
                message_of[{s, i}] = message_of[{t, j}] = messages.size();
                Message& message = messages.emplace_back(
                    Message{s, t, i, j, static_cast<double>(send.bytes),
                            network.route(Rank{static_cast<std::int32_t>(s)}, Rank{static_cast<std::int32_t>(t)})});
                for (const LinkId l : message.route) message.latency_s += network.link(l).latency_s;
                for (const LinkId l :
                     network.route(Rank{static_cast<std::int32_t>(t)}, Rank{static_cast<std::int32_t>(s)}))
                    message.latency_back_s += network.link(l).latency_s;
                break;
            }
        }
    }
    for (std::size_t r = 0; r < p; ++r) {
        intervals[r].assign(program.ranks[r].ops.size(), {never, never});
        ready_s[r].assign(program.ranks[r].ops.size(), never);
    }

    double now_s = 0;
    const auto take = [&](Message& message) {
        if (!message.arrived || !message.posted || message.taken) return false;
        message.taken = true;
        double& end_s = intervals[message.target][message.recv].end_s;
        end_s = now_s;
        if (options.costs->receive_overhead_s > 0)
            end_s = busy_until_s[message.target] =
                std::max(now_s, busy_until_s[message.target]) + options.costs->receive_overhead_s;
        return true;
    };
    while (true) {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t r = 0; r < p; ++r) {
                const RankProgram& part = program.ranks[r];
                for (std::size_t i = 0; i < part.ops.size(); ++i) {
                    const ProgramOp& op = part.ops[i];
                    if (ready_s[r][i] <= now_s) continue;
                    bool ready = true;
                    for (std::int32_t d = 0; d < op.num_dependencies; ++d)
                        ready = ready &&
                                intervals[r][static_cast<std::size_t>(
                                                 part.dependencies[static_cast<std::size_t>(op.first_dependency + d)])]
                                        .end_s <= now_s;
                    if (!ready) continue;
                    changed = true;
                    ready_s[r][i] = now_s;
                    intervals[r][i].start_s = now_s;
                    double work_s = op.seconds;
                    if (op.kind == ProgramOpKind::reduce)
                        work_s = static_cast<double>(op.bytes) / options.costs->reduce_bytes_per_s;
                    if (op.kind == ProgramOpKind::send) work_s = options.costs->send_overhead_s;
                    if (op.kind == ProgramOpKind::recv) {
                        messages[message_of[{r, i}]].posted = true;
                        take(messages[message_of[{r, i}]]);
                        continue;
                    }
                    double ends_s = now_s;
                    if (work_s > 0) {
                        intervals[r][i].start_s = std::max(now_s, busy_until_s[r]);
                        ends_s = busy_until_s[r] = intervals[r][i].start_s + work_s;
                    }
                    if (op.kind == ProgramOpKind::send)
                        messages[message_of[{r, i}]].queued_s = ends_s;
                    else
                        intervals[r][i].end_s = ends_s;
                }
            }
            for (Message& message : messages) {
                const bool rendezvous =
                    message.bytes_left >= static_cast<double>(options.costs.rendezvous_limit_bytes());
                if (message.asked_s == never && message.queued_s <= now_s) {
                    message.asked_s = now_s + message.latency_s;
                    changed = true;
                }
                if (message.answered_s == never && message.asked_s <= now_s && message.posted) {
                    message.answered_s = now_s + message.latency_back_s;
                    changed = true;
                }
                if (!message.overhead_paid && message.queued_s <= now_s &&
                    (!rendezvous || message.answered_s <= now_s)) {
                    message.overhead_paid = changed = true;
                    message.queued_s = now_s;  // from here on: its place in the queue of the pair
                }
                if (message.overhead_paid && !message.moving && !message.left) {
                    bool first = true;
                    for (const Message& other : messages)
                        if (options.ordered_pairs && &other != &message && other.source == message.source &&
                            other.target == message.target && other.overhead_paid && !other.left)
                            first = first && !other.moving &&
                                    std::pair(message.queued_s, message.send) < std::pair(other.queued_s, other.send);
                    if (first) message.moving = changed = true;
                }
                if (message.moving && message.bytes_left <= 0) {
                    message.moving = false;
                    message.left = changed = true;
                    intervals[message.source][message.send].end_s = now_s;
                    message.arrival_s = now_s + message.latency_s;
                }
                if (message.left && !message.arrived && message.arrival_s <= now_s) message.arrived = changed = true;
                changed = take(message) || changed;
            }
        }
        std::vector<Message*> moving;
        std::vector<std::vector<int>> capacities;
        for (Message& message : messages) {
            if (!message.moving) continue;
            moving.push_back(&message);
            capacities.emplace_back();
            for (const LinkId l : message.route) capacities.back().push_back(network.link(l).capacity);
        }
        const std::vector<double> rate = rates(capacities, bandwidth, options.costs->sharing);
        double next_s = never;
        const auto consider = [&](double time_s) {
            if (time_s > now_s) next_s = std::min(next_s, time_s);
        };
        for (const auto& rank : intervals)
            for (const Timeline::Interval& interval : rank)
                if (interval.end_s < never) consider(interval.end_s);
        for (const Message& message : messages) {
            for (const double time_s : {message.queued_s, message.asked_s, message.answered_s})
                if (time_s < never) consider(time_s);
            if (message.left && !message.arrived) consider(message.arrival_s);
        }
        Message* finishes = nullptr;
        for (std::size_t f = 0; f < moving.size(); ++f) {
            const double end_s = now_s + moving[f]->bytes_left / rate[f];
            if (end_s > next_s) continue;
            next_s = end_s;
            finishes = moving[f];
        }
        if (next_s == never) return intervals;
        for (std::size_t f = 0; f < moving.size(); ++f) moving[f]->bytes_left -= rate[f] * (next_s - now_s);
        if (finishes != nullptr) finishes->bytes_left = 0;
        now_s = next_s;
    }
}

}  // namespace hocket::reference
