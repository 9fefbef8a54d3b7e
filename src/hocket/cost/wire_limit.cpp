// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/wire_limit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/cost/cuts.hpp"

// Why each number is a lower bound.
//
// (1) A cut. Take a part of the network with a of the p members. A message between the part and the rest crosses one of
// the links that join them at least once. If w bytes of messages must leave the part, and its links out carry c bytes
// per second together, the last of these messages has passed the cut no earlier than w / c, because none begins before
// 0 and rates never exceed c; its last byte is delivered the latencies of its route later, at least out_latency_s.
// Hence T >= w / c + latency. Where these links may pass b bytes at once beside their rates, w <= b + c (T - latency),
// and hence T >= (w - b) / c + latency: a bucket gives what it held at the start, and what it gets later is part of c.
// The same holds into the part, and for both directions together over the capacities of both.
//
// What must leave, in chunks that are moved whole, as they came or reduced with others of the same chunk:
//   bcast     every chunk, if the root is inside and a member outside
//   reduce    a partial result of every chunk, if the root is outside
//   scatter   the blocks of the p-a members outside, if the root is inside
//   gather    the blocks of the a members inside, if the root is outside
//   allgather the a blocks of the members inside
//   alltoall  a (p-a) blocks
//   reduce_scatter_block  a partial result of each of the p-a blocks that are wanted outside
//   allreduce a partial result of every chunk: the values inside take part in every value outside
//   barrier   no bytes
//
// (2) A division of the network into m parts that hold all members. Let w be the bytes of all messages between two
// parts. Each leaves a part, so w <= (T - latency) times the sum of what the parts can send; likewise for receiving.
// And w is at least the sum over the parts of what must leave, or of what must enter, by (1). For allreduce w >= 2
// (m-1) n: look at one chunk and the messages between parts that carry it, in the order of their arrival. Until the
// first part knows all contributions at least m-1 have arrived, since they must link m parts; each of the m-1 others
// that then lack one gets at least one more [Harary74, the number of one-way calls in gossiping].
//
// (3) News. Whoever needs a value of another rank waits at least the least sum of latencies over all paths between the
// two, since relaying ranks add time only.

namespace hocket::cost {
namespace {

/// Bytes that must leave and enter a part.
struct Demand {
    double out_bytes = 0, in_bytes = 0;
};

Demand demand_of(Collective collective, const Cut& cut, std::int64_t num_members, std::int64_t bytes) {
    const auto n = static_cast<double>(bytes);
    const double inside = static_cast<double>(cut.members) * n;
    const double outside = static_cast<double>(num_members - cut.members) * n;
    const bool root_inside = cut.has_root;
    switch (collective) {
        case Collective::bcast:
            return root_inside ? Demand{n, 0} : Demand{0, n};
        case Collective::reduce:
            return root_inside ? Demand{0, n} : Demand{n, 0};
        case Collective::scatter:
            return root_inside ? Demand{outside, 0} : Demand{0, inside};
        case Collective::gather:
            return root_inside ? Demand{0, outside} : Demand{inside, 0};
        case Collective::allreduce:
            return {n, n};
        case Collective::allgather:
            return {inside, outside};
        case Collective::reduce_scatter_block:
            return {outside, inside};
        case Collective::alltoall: {
            const double both = static_cast<double>(cut.members) * outside;
            return {both, both};
        }
        case Collective::barrier:
            return {};
    }
    return {};
}

/// That `bytes` pass links which give `burst_bytes` at once and the rest at a rate.
double passing_s(double bytes, double burst_bytes, double bytes_per_s) {
    return bytes > burst_bytes ? (bytes - burst_bytes) / bytes_per_s : 0;
}

double cut_limit_s(const Cut& cut, const Demand& demand) {
    double limit_s = 0;
    if (demand.out_bytes > 0)
        limit_s = passing_s(demand.out_bytes, cut.out_burst_bytes, cut.out_bytes_per_s) + cut.out_latency_s;
    if (demand.in_bytes > 0)
        limit_s =
            std::max(limit_s, passing_s(demand.in_bytes, cut.in_burst_bytes, cut.in_bytes_per_s) + cut.in_latency_s);
    const double both_bytes = demand.out_bytes + demand.in_bytes;
    if (both_bytes > 0)
        limit_s = std::max(limit_s, passing_s(both_bytes, cut.both_burst_bytes, cut.both_bytes_per_s) +
                                        std::min(cut.out_latency_s, cut.in_latency_s));
    return limit_s;
}

double division_limit_s(const Cuts& cuts, const std::vector<std::int32_t>& division, const std::vector<Demand>& demands,
                        Collective collective, std::int64_t bytes) {
    double out_bytes = 0, in_bytes = 0, out_bytes_per_s = 0, in_bytes_per_s = 0, out_bursts = 0, in_bursts = 0;
    double latency_s = std::numeric_limits<double>::infinity();
    for (const std::int32_t c : division) {
        const Cut& cut = cuts.cuts[static_cast<std::size_t>(c)];
        out_bytes += demands[static_cast<std::size_t>(c)].out_bytes;
        in_bytes += demands[static_cast<std::size_t>(c)].in_bytes;
        out_bytes_per_s += cut.out_bytes_per_s;
        in_bytes_per_s += cut.in_bytes_per_s;
        out_bursts += cut.out_burst_bytes;
        in_bursts += cut.in_burst_bytes;
        latency_s = std::min({latency_s, cut.out_latency_s, cut.in_latency_s});
    }
    double total_bytes = std::max(out_bytes, in_bytes);
    if (collective == Collective::allreduce)
        total_bytes = 2 * static_cast<double>(division.size() - 1) * static_cast<double>(bytes);
    if (!(total_bytes > 0)) return 0;
    return latency_s + std::max(passing_s(total_bytes, out_bursts, out_bytes_per_s),
                                passing_s(total_bytes, in_bursts, in_bytes_per_s));
}

double news_limit_s(Collective collective, const Network& network, const std::vector<NodeId>& nodes, NodeId root) {
    const auto farthest_s = [&](NodeId from, bool forward) {
        const std::vector<double> latency_s = least_latencies_s(network, std::vector{from}, forward);
        double most_s = 0;
        for (const NodeId node : nodes) most_s = std::max(most_s, latency_s[node.at()]);
        return most_s;
    };
    switch (collective) {
        case Collective::bcast:
        case Collective::scatter:
            return farthest_s(root, true);
        case Collective::reduce:
        case Collective::gather:
            return farthest_s(root, false);
        default:
            break;
    }
    // Everybody needs everybody's. From some members alone it is still a bound, and large networks stay quick.
    constexpr std::size_t most_sources = 256;
    const std::size_t step = (nodes.size() + most_sources - 1) / most_sources;
    double most_s = 0;
    for (std::size_t i = 0; i < nodes.size(); i += step) most_s = std::max(most_s, farthest_s(nodes[i], true));
    return most_s;
}

void check(const Network& network, std::span<const Rank> members, std::int64_t bytes, Rank root) {
    const auto refuse = [](const std::string& what, const std::string& expected) {
        throw InvalidInput("lower bound: " + what + "; expected: " + expected);
    };
    if (members.empty()) refuse("there are no members", "at least 1");
    if (bytes < 0) refuse("bytes is " + std::to_string(bytes), "at least 0");
    if (!root.valid() || root.at() >= members.size())
        refuse("root is " + std::to_string(root.value), "0.." + std::to_string(members.size() - 1));
    std::vector<bool> seen(static_cast<std::size_t>(network.num_ranks()), false);
    for (const Rank member : members) {
        if (member.value < 0 || member.value >= network.num_ranks())
            refuse("member " + std::to_string(member.value) + " is not in the network",
                   "0.." + std::to_string(network.num_ranks() - 1));
        if (seen[member.at()]) refuse("member " + std::to_string(member.value) + " comes twice", "each once");
        seen[member.at()] = true;
    }
}

}  // namespace

double wire_limit_s(Collective collective, const Network& network, std::span<const Rank> members, std::int64_t bytes,
                    Rank root, const Bursts& bursts) {
    check(network, members, bytes, root);
    if (!(bursts.bytes >= 0 && bursts.seconds >= 0 && std::isfinite(bursts.bytes + bursts.seconds)))
        throw InvalidInput("lower bound: a burst is negative or not finite; expected: 0 or more");
    if (collective == Collective::barrier) bytes = 0;
    if (members.size() == 1 || (bytes == 0 && collective != Collective::barrier)) return 0;
    std::vector<NodeId> nodes;
    for (const Rank member : members) nodes.push_back(network.node_of(member));

    double limit_s = news_limit_s(collective, network, nodes, nodes[root.at()]);
    if (collective == Collective::barrier) return limit_s;
    const Cuts cuts = cuts_of(network, members, members[root.at()], bursts);
    std::vector<Demand> demands;
    for (const Cut& cut : cuts.cuts) {
        demands.push_back(demand_of(collective, cut, static_cast<std::int64_t>(members.size()), bytes));
        limit_s = std::max(limit_s, cut_limit_s(cut, demands.back()));
    }
    for (const auto& division : cuts.divisions)
        limit_s = std::max(limit_s, division_limit_s(cuts, division, demands, collective, bytes));
    return limit_s;
}

}  // namespace hocket::cost
