// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hocket/cost/circuits.hpp"
#include "hocket/search/circuits/one_segment.hpp"

namespace hocket::search {
namespace {

using circuits::Controller;
using circuits::Injection;
using circuits::Rules;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Messages that a node can send at a time.
double width(const Rules& rules) {
    return rules.injection == Injection::one ? 1 : std::min(rules.ports, rules.num_nodes - 1);
}

/// Messages that all nodes together can send at a time.
double lanes(const Rules& rules) {
    const std::int64_t p = rules.num_nodes, ends = p * std::min<std::int64_t>(rules.ports, p - 1);
    return static_cast<double>(std::min<std::int64_t>(ends / 2 * 2, rules.injection == Injection::one ? p : ends));
}

Rules with_message(const Rules& rules, double message_s) {
    Rules result = rules;
    result.latency_s = message_s;
    result.s_per_byte = 0;
    result.controller = Controller::parallel;
    return result;
}

/* A serial controller. The circuits that were ever up join all nodes, so there are p - 1 of them at least, and it works
   (p - 1)(s + d). The circuit that it opens last carries a message, or it need not be. Meanwhile it can tear down p - 2
   others, with stop `all` none: they are torn down after the last message. With more circuits it works s + d more
   for each, and can do d more meanwhile. */
double serial_bound_s(const Rules& rules, double message_s) {
    const double others = rules.num_nodes - 2;
    const double meanwhile_s = rules.stop == circuits::Stop::all ? 0 : others * rules.times.teardown_s;
    return (others + 1) * (rules.times.setup_s + rules.times.teardown_s) + std::max(0.0, message_s - meanwhile_s);
}

/* Something that every node must get from one node, in messages of at least `message_s` each: the exact time of one
   message that long (one_segment.hpp). A serial controller is never faster than a parallel one. */
double spread_bound_s(const Rules& rules, double message_s) {
    const double spread_s = broadcast_one_segment(with_message(rules, message_s), 0).makespan_s;
    if (rules.controller == Controller::parallel) return spread_s;
    return std::max(spread_s, serial_bound_s(rules, message_s));
}

/* Something that every node must get from every other one, in messages of at least `message_s` each. With one port and
   an odd number of nodes, the first circuit of some node begins where another one with a message has ended: its other
   end has had a circuit before, since the first circuits of all nodes are no matching. */
double exchange_bound_s(const Rules& rules, double message_s) {
    const double spread_s = spread_bound_s(rules, message_s);
    if (rules.num_nodes % 2 == 0 || rules.ports > 1) return spread_s;
    const Rules alone = with_message(rules, message_s);
    const double after_s = message_s + alone.exchange_s();
    return std::max(spread_s, after_s + broadcast_one_segment(alone, 0).makespan_s);
}

/* A serial controller and the work of all messages, in seconds of the lanes: `work_s(c)` of c circuits in all. Each of
   them carries two messages at a time, and the i-th is open i s after the start at the earliest. With stop `all` all
   are torn down, one after another, when no message is on its way: until then m circuits, with 2 m lanes, have worked
   for m x - s m (m + 1) / 2 at the most. With stop `circuit` they are torn down one by one as well. Those beyond half
   the lanes do not help. `least_s` is what the messages take at least from the first set-up on. */
template <typename Work>
double serial_work_bound_s(const Rules& rules, double least_s, const Work& work_s) {
    const std::int64_t p = rules.num_nodes, most = p * (p - 1) / 2;
    const double s = rules.times.setup_s, d = rules.times.teardown_s;
    const bool together = rules.stop == circuits::Stop::all;
    const double step_s = together ? s : s + d;
    const auto most_lanes = static_cast<std::int64_t>(std::ceil(lanes(rules) / 2));
    double best_s = infinite;
    for (std::int64_t c = p - 1, next = c; c <= most; c = next) {
        const auto circuits = static_cast<double>(c);
        if (circuits * (s + d) >= best_s) break;
        next = c + std::max<std::int64_t>(1, c / 64);  // as few as c of them cost, as many as next - 1 help
        double end_s = infinite;                       // of the messages
        for (std::int64_t m = 1; m <= std::min(next - 1, most_lanes); ++m) {
            const auto used = static_cast<double>(m);
            const double now_s = work_s(static_cast<double>(next - 1)) / (2 * used) + step_s * (used + 1) / 2;
            if (now_s > end_s) break;  // it is convex in m
            end_s = now_s;
        }
        best_s = std::min(best_s, together ? circuits * d + std::max({circuits * s, s + least_s, end_s})
                                           : std::max({circuits * (s + d), s + least_s + d, end_s}));
    }
    return best_s;
}

/* Broadcast of n bytes in segments of z bytes (0: any division). The root sends all of them at least once. Let its last
   message that has something new for the network have c >= z bytes, and be the j-th. It begins j - 1 messages and
   (n - c) / w bytes after the first set-up at the least, w the messages that it sends at a time (with w > 1, alpha
   counts once: j - 1 of them run beside each other). What is new in it then needs as many more messages, one after
   another, as one segment needs rounds: 1 of c bytes, the others of at least z. So T >= s + d + n beta / w + alpha
   r + (r - 1) z beta, where r may be the fewest rounds of any number of configurations only, ceil(log2 p) or
   ceil(log_(w+1) p), unless there is one configuration; with c > 1 of them, s + d grows to that of c. Without
   configurations (stop `circuit`), r is that of any number of ports. */
double broadcast_bound_s(const Rules& rules, double bytes, double segment_bytes) {
    const double hop_s = rules.message_s(segment_bytes);
    const double w = width(rules);
    const auto rest_s = [&](double rounds) {
        return bytes * rules.s_per_byte / w + rules.latency_s + (rounds - 1) * hop_s;
    };
    double best_s = infinite;
    const auto configurations = fewest_rounds(rules.num_nodes, rules.ports, rules.injection);
    double fewest = infinite;
    for (std::size_t c = 0; c < configurations.size(); ++c) {
        if (configurations[c].empty()) continue;
        fewest = 0;
        for (const std::int64_t rounds : configurations[c]) fewest += static_cast<double>(rounds);
        if (rules.stop == circuits::Stop::all)
            best_s =
                std::min(best_s, cost::connection_s(static_cast<std::int64_t>(c) + 1, rules.times) + rest_s(fewest));
    }
    if (rules.stop == circuits::Stop::circuit) {
        const double rounds = std::ceil(std::log(rules.num_nodes) / std::log(w + 1) - 1e-9);
        best_s = rules.times.setup_s + rules.times.teardown_s + rest_s(rounds);
    }
    return std::max(best_s, spread_bound_s(rules, hop_s));
}

/// Least sum of the distances from a node to all others where no node has more than `degree` neighbours [Moore].
double least_distances(std::int64_t p, std::int64_t degree) {
    double sum = 0;
    std::int64_t left = p - 1, at_distance = degree;
    for (std::int64_t distance = 1; left > 0; ++distance) {
        const std::int64_t here = std::min(left, at_distance);
        if (here == 0) return infinite;
        sum += static_cast<double>(here * distance);
        left -= here;
        at_distance = std::min(left, here * (degree - 1));
    }
    return sum;
}

/// Blocks are whole: those of the lane that has most, if each node sends so many.
double lane_blocks(const Rules& rules, double of_node) {
    return std::ceil(rules.num_nodes * of_node / lanes(rules) - 1e-9);
}

/* Alltoall. Let D be the largest number of nodes that one has a circuit to in all: a block goes at least as many
   hops as in a graph of degree D, so some node sends the sum of these distances at least. D neighbours take ceil(D
   / k) configurations; with stop `circuit`, the busiest port of that node has as many circuits one after another,
   beside which other ports send. */
double alltoall_bound_s(const Rules& rules, double bytes) {
    const auto p = std::int64_t{rules.num_nodes};
    const std::int64_t ports = std::min<std::int64_t>(rules.ports, p - 1);
    double best_s = infinite;
    for (std::int64_t c = 1; (c - 1) * ports < p - 1; ++c) {
        const double sent_s = rules.latency_s + lane_blocks(rules, least_distances(p, std::min(c * ports, p - 1))) *
                                                    bytes * rules.s_per_byte;
        const double up_s = cost::connection_s(c, rules.times);
        best_s = std::min(best_s, rules.stop == circuits::Stop::all
                                      ? up_s + sent_s
                                      : std::max(up_s, cost::connection_s(1, rules.times) + sent_s));
    }
    return best_s;
}

}  // namespace

double circuit_bound_s(Collective collective, const Rules& rules, double bytes, std::optional<std::int32_t> segments) {
    if (rules.num_nodes == 1) return 0;
    const double p = rules.num_nodes;
    const double s_plus_d = rules.times.setup_s + rules.times.teardown_s;
    const bool is_serial = rules.controller == Controller::serial;
    // Of the message alone, by the root or to it, on all of its ports.
    const auto serial_s = [&](double least_s) {
        return is_serial ? serial_work_bound_s(rules, least_s, [](double) { return 0.0; }) : 0.0;
    };
    switch (collective) {
        case Collective::bcast:
            return std::max(broadcast_bound_s(rules, bytes, segments ? bytes / *segments : 0),
                            serial_s(rules.latency_s + bytes * rules.s_per_byte / width(rules)));
        case Collective::reduce: {
            Rules backwards = rules;  // of a broadcast that sends on all ports, as a node receives on all of them
            std::swap(backwards.times.setup_s, backwards.times.teardown_s);
            backwards.injection = Injection::all;
            const double bound_s = broadcast_bound_s(backwards, bytes, segments ? bytes / *segments : 0);
            // Every other node sends all bytes at least once, one message after another.
            const double sent_s = rules.injection == Injection::all
                                      ? rules.latency_s + bytes * rules.s_per_byte / width(backwards)
                                      : segments.value_or(1) * rules.latency_s + bytes * rules.s_per_byte;
            return std::max({bound_s, s_plus_d + sent_s, serial_s(sent_s)});
        }
        case Collective::allgather: {  // has a broadcast of each block in it
            const double sent_s = rules.latency_s + lane_blocks(rules, p - 1) * bytes * rules.s_per_byte;
            const auto work_s = [&](double) { return p * (p - 1) * bytes * rules.s_per_byte; };
            return std::max({exchange_bound_s(rules, rules.message_s(bytes)), s_plus_d + sent_s,
                             is_serial ? serial_work_bound_s(rules, sent_s, work_s) : 0.0});
        }
        case Collective::allreduce: {  // each byte is combined p - 1 times, and the result is given to p - 1
            const auto work_s = [&](double) { return 2 * (p - 1) * bytes * rules.s_per_byte; };
            const double sent_s = rules.latency_s + work_s(0) / lanes(rules);
            return std::max({exchange_bound_s(rules, rules.latency_s), s_plus_d + sent_s,
                             is_serial ? serial_work_bound_s(rules, sent_s, work_s) : 0.0});
        }
        default: {  // a block of nodes that never have a circuit is sent twice
            const auto work_s = [&](double circuits) {
                return (2 * p * (p - 1) - std::min(2 * circuits, p * (p - 1))) * bytes * rules.s_per_byte;
            };
            return std::max({exchange_bound_s(rules, rules.message_s(bytes)), alltoall_bound_s(rules, bytes),
                             is_serial ? serial_work_bound_s(rules, rules.latency_s, work_s) : 0.0});
        }
    }
}

double pipelined_reference_s(const Rules& rules, double bytes) {
    if (rules.num_nodes == 1) return 0;
    const auto configurations = fewest_rounds(rules.num_nodes, rules.ports, rules.injection);
    if (configurations.empty() || configurations[0].empty()) return infinite;
    const auto r = static_cast<double>(configurations[0][0]);
    const auto time_s = [&](double m) { return (m - 1 + r) * rules.message_s(bytes / m); };
    double best_s = infinite;
    for (double m = 1; m <= 1e5; m += 1) {
        const double now_s = time_s(m);
        if (now_s > best_s) break;  // it is convex in m
        best_s = now_s;
    }
    return rules.times.setup_s + rules.times.teardown_s + best_s;
}

}  // namespace hocket::search
