// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/orders.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/network/members.hpp"

namespace hocket::search {
namespace {

constexpr std::size_t most_members = 1 << 20;

void check_order(std::span<const Rank> order, std::size_t num_members) {
    std::vector<bool> seen(num_members, false);
    bool right = order.size() == num_members;
    for (std::size_t i = 0; right && i < order.size(); ++i) {
        right = order[i].valid() && order[i].at() < num_members && !seen[order[i].at()];
        if (right) seen[order[i].at()] = true;
    }
    if (!right)
        throw InvalidInput("the order is not a permutation of 0 to " +
                           std::to_string(static_cast<std::int64_t>(num_members) - 1));
}

/// Flows on each shared capacity, of messages between members.
class Loads {
public:
    Loads(const Network& network, std::span<const Rank> members, Walk walk)
        : network_(network),
          members_(members),
          walk_(walk),
          flows_(static_cast<std::size_t>(network.num_capacities()), 0),
          s_per_byte_(flows_.size(), 0) {
        double slowest = 0;
        for (const Link& link : network.links()) {
            const double s = 1 / link.bandwidth_bytes_per_s;
            s_per_byte_[static_cast<std::size_t>(link.capacity)] = s;
            slowest = std::max(slowest, s);
        }
        scale_ = slowest > 0 ? 1 / slowest : 0;
    }

    /// Adds (+1) or takes away (-1) the message between neighbours in the order.
    void add(Rank from, Rank to, std::int32_t by) {
        if (walk_ == Walk::backward) std::swap(from, to);
        network_.route(members_[from.at()], members_[to.at()], route_);
        for (const LinkId l : route_) {
            const auto capacity = static_cast<std::size_t>(network_.link(l).capacity);
            weight_ -= weight(capacity);
            flows_[capacity] += by;
            weight_ += weight(capacity);
        }
        links_used_ += by * static_cast<std::int64_t>(route_.size());
    }
    /// What the search makes small: the sum of the fourth powers of the loads follows the largest and, where that is
    /// the same, how many are nearly as large.
    [[nodiscard]] double weight() const { return weight_; }
    [[nodiscard]] std::int64_t links_used() const { return links_used_; }
    [[nodiscard]] std::int32_t most_flows() const {
        return flows_.empty() ? 0 : *std::max_element(flows_.begin(), flows_.end());
    }
    [[nodiscard]] double busiest_s_per_byte() const {
        double most = 0;
        for (std::size_t c = 0; c < flows_.size(); ++c) most = std::max(most, flows_[c] * s_per_byte_[c]);
        return most;
    }
    [[nodiscard]] double latency_s(Rank from, Rank to) {
        if (walk_ == Walk::backward) std::swap(from, to);
        network_.route(members_[from.at()], members_[to.at()], route_);
        double sum_s = 0;
        for (const LinkId l : route_) sum_s += network_.link(l).latency_s;
        return sum_s;
    }

private:
    [[nodiscard]] double weight(std::size_t capacity) const {
        const double load = flows_[capacity] * s_per_byte_[capacity] * scale_;
        return load * load * load * load;
    }

    const Network& network_;
    std::span<const Rank> members_;
    Walk walk_;
    std::vector<std::int32_t> flows_;  // [capacity]
    std::vector<double> s_per_byte_;   // [capacity]
    double scale_ = 0;                 // so that weights are near 1
    double weight_ = 0;
    std::int64_t links_used_ = 0;
    std::vector<LinkId> route_;
};

Congestion congestion_in(Loads& loads, std::span<const Rank> order, Walk walk) {
    Congestion congestion{loads.most_flows(), loads.busiest_s_per_byte(), 0, 0};
    const std::size_t messages = order.size() < 2 ? 0 : walk == Walk::ring ? order.size() : order.size() - 1;
    for (std::size_t i = 0; i < messages; ++i) {
        const double latency_s = loads.latency_s(order[i], order[(i + 1) % order.size()]);
        congestion.longest_latency_s = std::max(congestion.longest_latency_s, latency_s);
        congestion.total_latency_s += latency_s;
    }
    return congestion;
}

/// An order under change: positions first .. last are rewritten, and the loads of the messages at their edges follow.
class LocalSearch {
public:
    LocalSearch(const Network& network, std::span<const Rank> members, std::span<const Rank> start, Walk walk,
                Orders others)
        : walk_(walk), loads_(network, members, walk) {
        for (const std::vector<Rank>& other : others) {
            check_order(other, members.size());
            order_ = other;
            count_messages(0, order_.size() - 1, 1);
        }
        order_.assign(start.begin(), start.end());
        count_messages(0, order_.size() - 1, 1);
    }

    /// Whether it made the order better; else nothing has changed.
    bool try_move(base::Random& random) {
        const auto n = static_cast<std::int64_t>(order_.size());
        auto first = static_cast<std::size_t>(1 + random.below(n - 1));
        auto last = static_cast<std::size_t>(1 + random.below(n - 1));
        if (first == last) return false;
        if (first > last) std::swap(first, last);
        const std::int64_t kind = random.below(4);
        // Long stretches cost as much as they are long: mostly try short ones.
        constexpr std::size_t longest = 64;
        if (kind != 3 && last - first > longest) last = first + 1 + (last - first) % longest;

        const double weight = loads_.weight();
        const std::int64_t links_used = loads_.links_used();
        if (kind == 3) {  // only two places change
            const bool apart = last - first > 1;
            const auto around = [&](std::int32_t by) {
                if (!apart) return count_messages(first, last, by);
                count_messages(first, first, by);
                count_messages(last, last, by);
            };
            // With one place between them no message is counted twice: each is at one of the two places.
            around(-1);
            std::swap(order_[first], order_[last]);
            around(1);
            if (better(weight, links_used)) return true;
            around(-1);
            std::swap(order_[first], order_[last]);
            around(1);
            return false;
        }
        saved_.assign(order_.begin() + static_cast<std::ptrdiff_t>(first),
                      order_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
        count_messages(first, last, -1);
        if (kind == 0) std::reverse(begin, end);
        if (kind == 1) std::rotate(begin, begin + 1, end);
        if (kind == 2) std::rotate(begin, end - 1, end);
        count_messages(first, last, 1);
        if (better(weight, links_used)) return true;
        count_messages(first, last, -1);
        std::copy(saved_.begin(), saved_.end(), begin);
        count_messages(first, last, 1);
        return false;
    }

    [[nodiscard]] const std::vector<Rank>& order() const { return order_; }
    [[nodiscard]] Congestion congestion() { return congestion_in(loads_, order_, walk_); }

private:
    /// The messages that begin or end at positions first .. last.
    void count_messages(std::size_t first, std::size_t last, std::int32_t by) {
        const std::size_t n = order_.size();
        if (n < 2) return;
        for (std::size_t i = first == 0 ? 0 : first - 1; i <= last; ++i) {
            if (i + 1 == n && walk_ != Walk::ring) continue;
            loads_.add(order_[i], order_[(i + 1) % n], by);
        }
    }
    [[nodiscard]] bool better(double weight, std::int64_t links_used) const {
        const double slack = 1e-9 * (1 + weight);  // rounding of sums
        return loads_.weight() < weight - slack ||
               (loads_.weight() < weight + slack && loads_.links_used() < links_used);
    }

    std::vector<Rank> order_;
    Walk walk_;
    Loads loads_;
    std::vector<Rank> saved_;
};

}  // namespace

Walk walk_from(std::string_view name) {
    if (name == "ring") return Walk::ring;
    if (name == "chain") return Walk::chain;
    if (name == "backward") return Walk::backward;
    throw InvalidInput("unknown walk \"" + std::string(name) + "\"", "accepted: ring, chain, backward");
}

Congestion congestion_of(const Network& network, std::span<const Rank> members, std::span<const Rank> order, Walk walk,
                         Orders others) {
    network::check_members(network, members, most_members);
    check_order(order, members.size());
    return LocalSearch(network, members, order, walk, others).congestion();
}

FoundOrder improve_order(const Network& network, std::span<const Rank> members, std::span<const Rank> start, Walk walk,
                         const OrderOptions& options, Orders others) {
    network::check_members(network, members, most_members);
    check_order(start, members.size());
    LocalSearch search(network, members, start, walk, others);
    FoundOrder found;
    base::Random random(options.seed);
    const bool can_be_better = members.size() > 2 && search.congestion().most_flows > 1;
    for (; can_be_better && found.num_moves < options.max_moves; ++found.num_moves) {
        if (found.num_moves % 1024 == 1023 && search.congestion().most_flows <= 1) break;
        search.try_move(random);
    }
    found.order = search.order();
    found.congestion = search.congestion();
    return found;
}

}  // namespace hocket::search
