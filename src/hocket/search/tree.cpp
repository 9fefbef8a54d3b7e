// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/tree.hpp"

#include <algorithm>

#include "hocket/base/error.hpp"

namespace hocket::search {
namespace {

using Neighbours = std::vector<std::vector<std::int32_t>>;

/// Breadth-first from `start`; the last is among the farthest.
std::vector<std::int32_t> walk(const Neighbours& neighbours, std::int32_t start, std::vector<std::int32_t>& parent) {
    parent.assign(neighbours.size(), -1);
    std::vector<std::int32_t> order{start};
    for (std::size_t head = 0; head < order.size(); ++head)
        for (const std::int32_t next : neighbours[static_cast<std::size_t>(order[head])])
            if (next != parent[static_cast<std::size_t>(order[head])]) {
                parent[static_cast<std::size_t>(next)] = order[head];
                order.push_back(next);
                HOCKET_ASSERT(order.size() <= neighbours.size(), "the cables have no cycle");
            }
    return order;
}

/// Of the longest paths; every automorphism of the tree leaves it, or the cable to its neighbour on the path, in place.
std::int32_t middle_of(const Neighbours& neighbours) {
    std::vector<std::int32_t> parent;
    const std::int32_t end = walk(neighbours, 0, parent).back();
    std::vector<std::int32_t> path{walk(neighbours, end, parent).back()};
    while (path.back() != end) path.push_back(parent[static_cast<std::size_t>(path.back())]);
    return path[path.size() / 2];
}

}  // namespace

Tree::Tree(std::int32_t num_nodes, std::vector<std::int32_t> computers, std::vector<Cable> cables, std::int64_t bytes,
           std::vector<std::int64_t> send_rates)
    : computers_(std::move(computers)),
      computer_at_(at(num_nodes), -1),
      cables_(std::move(cables)),
      bytes_(bytes),
      send_rates_(std::move(send_rates)),
      capacity_(2 * at(num_nodes), -1),
      bandwidth_(2 * at(num_nodes), 0),
      delay_ns_(2 * at(num_nodes), 0) {
    for (std::size_t i = 0; i < computers_.size(); ++i) {
        HOCKET_ASSERT(computer_at_[at(computers_[i])] < 0, "one computer at a node");
        computer_at_[at(computers_[i])] = static_cast<std::int32_t>(i);
    }
    Neighbours neighbours(at(num_nodes));
    for (const Cable& cable : cables_) {
        neighbours[at(cable.a)].push_back(cable.b);
        neighbours[at(cable.b)].push_back(cable.a);
    }
    middle_ = middle_of(neighbours);
    order_ = walk(neighbours, middle_, parent_);
    HOCKET_ASSERT(order_.size() == at(num_nodes), "the cables join all nodes");
    depth_.resize(at(num_nodes), 0);
    for (const std::int32_t node : order_) {
        if (node != middle_) depth_[at(node)] = depth_[at(parent_[at(node)])] + 1;
        if (depth_[at(node)] >= max_depth / 2)
            throw InvalidInput("the tree is more than " + std::to_string(max_depth) + " cables wide",
                               "a schedule that is not --optimal serves any tree");
    }
    for (const Cable& cable : cables_) {
        const bool a_below = parent_[at(cable.a)] == cable.b;
        const std::int32_t up = 2 * (a_below ? cable.a : cable.b), down = up + 1;
        const std::int32_t forward = a_below ? up : down, backward = a_below ? down : up;
        bandwidth_[at(forward)] = cable.bandwidth[0];
        bandwidth_[at(backward)] = cable.bandwidth[1];
        delay_ns_[at(forward)] = cable.delay_ns[0];
        delay_ns_[at(backward)] = cable.delay_ns[1];
        has_delays_ = has_delays_ || cable.delay_ns[0] > 0 || cable.delay_ns[1] > 0;
        capacity_[at(up)] = up;
        capacity_[at(down)] = cable.half_duplex ? up : down;
    }
    const std::int32_t n = num_computers();
    rates_.resize(at(n) * at(n), 0);
    if (has_delays_) path_delays_.resize(at(n) * at(n), 0);
    for (std::int32_t s = 0; s < n; ++s)
        for (std::int32_t r = 0; r < n; ++r) {
            if (s == r) continue;
            std::int64_t least = send_rate(s);
            std::int64_t delay = 0;
            for_path(s, r, [&](std::int32_t link) {
                least = std::min(least, bandwidth_[at(link)]);
                delay += delay_ns_[at(link)];
            });
            rates_[pair(s, r)] = least;
            if (has_delays_) path_delays_[pair(s, r)] = delay;
        }
}

std::int64_t time_ns(std::int64_t bytes, std::int64_t bytes_per_s) {
    std::int64_t product = 0;  // mostly fits, and then divides ten times faster
    if (!__builtin_mul_overflow(bytes, std::int64_t{1'000'000'000}, &product)) return product / bytes_per_s;
    return static_cast<std::int64_t>(static_cast<__int128>(bytes) * 1'000'000'000 / bytes_per_s);
}

std::int64_t Tree::time_of(std::int64_t rate) const {
    const std::int64_t time = time_ns(bytes_, rate);
    return static_cast<__int128>(time) * rate < static_cast<__int128>(bytes_) * 1'000'000'000 ? time + 1 : time;
}

std::string faults_of(const Tree& tree, std::span<const std::int32_t> holders, std::span<const Transfer> transfers) {
    struct Use {
        std::int64_t start, end, rate;
    };
    const auto name = [](const Transfer& t) { return std::to_string(t.source) + " to " + std::to_string(t.target); };
    std::vector<std::int64_t> has_from(static_cast<std::size_t>(tree.num_computers()), never);
    std::vector<std::vector<Use>> uses(static_cast<std::size_t>(tree.num_links()));
    std::vector<std::int64_t> most(uses.size(), 0);
    for (const std::int32_t holder : holders) has_from[static_cast<std::size_t>(holder)] = 0;
    for (const Transfer& t : transfers) {
        std::int64_t& from = has_from[static_cast<std::size_t>(t.target)];
        if (from != never) return "the message comes twice with " + name(t);
        from = t.end_ns;
    }
    for (const Transfer& t : transfers) {
        if (t.start_ns < has_from[static_cast<std::size_t>(t.source)]) return name(t) + " starts without the message";
        std::int64_t begin = t.start_ns;
        const std::int64_t rate = tree.rate(t.source, t.target), duration = tree.time_of(rate);
        tree.for_path(t.source, t.target, [&](std::int32_t link) {
            begin += tree.delay_ns(link);
            const auto c = static_cast<std::size_t>(tree.capacity_of(link));
            uses[c].push_back({begin, begin + duration, rate});
            most[c] = tree.bandwidth(link);
        });
        if (t.end_ns != begin + duration) return name(t) + " ends at another time";
    }
    for (std::size_t c = 0; c < uses.size(); ++c)
        for (const Use& use : uses[c]) {  // the load is largest at the start of some use
            std::int64_t sum = 0;
            for (const Use& other : uses[c])
                if (other.start <= use.start && use.start < other.end) sum += other.rate;
            if (sum > most[c]) return "link " + std::to_string(c) + " is overloaded";
        }
    for (std::size_t i = 0; i < has_from.size(); ++i)
        if (has_from[i] == never) return "computer " + std::to_string(i) + " does not get the message";
    return {};
}

}  // namespace hocket::search
