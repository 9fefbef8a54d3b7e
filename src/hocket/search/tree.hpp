// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::search {

/// A cable between two nodes of a tree, each direction by itself.
struct Cable {
    std::int32_t a, b;
    std::int64_t bandwidth[2];  ///< bytes/s, > 0, of a to b and b to a; half duplex: both are the one shared bandwidth
    std::int64_t delay_ns[2];   ///< >= 0
    bool half_duplex = false;
};

/// Broadcast of one message on a tree [Hourai]: a transfer from one computer to another goes at the least bandwidth of
/// its path, and reserves that on every link while its bytes pass. Numbers are whole, so that times compare exactly.
class Tree {
public:
    /// `computers[i]` is the node of computer i. `cables` join all of `num_nodes` nodes without a cycle. No transfer
    /// from computer i is faster than `send_rates[i]`; however many it sends. Empty: its cables alone matter.
    Tree(std::int32_t num_nodes, std::vector<std::int32_t> computers, std::vector<Cable> cables, std::int64_t bytes,
         std::vector<std::int64_t> send_rates = {});

    [[nodiscard]] std::int32_t num_nodes() const { return static_cast<std::int32_t>(parent_.size()); }
    [[nodiscard]] std::int32_t num_computers() const { return static_cast<std::int32_t>(computers_.size()); }
    [[nodiscard]] std::int32_t node_of(std::int32_t computer) const { return computers_[at(computer)]; }
    /// The computer at a node, or -1.
    [[nodiscard]] std::int32_t computer_at(std::int32_t node) const { return computer_at_[at(node)]; }
    [[nodiscard]] std::int64_t send_rate(std::int32_t computer) const {
        return send_rates_.empty() ? unlimited : send_rates_[at(computer)];
    }
    [[nodiscard]] bool stands_for_others(std::int32_t computer) const { return send_rate(computer) < unlimited; }
    [[nodiscard]] std::span<const Cable> cables() const { return cables_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

    // Nodes hang below a node of the middle. Link 2v leads up from node v, link 2v + 1 down to it.
    [[nodiscard]] std::int32_t middle() const { return middle_; }
    [[nodiscard]] std::int32_t parent(std::int32_t node) const { return parent_[at(node)]; }
    [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }  ///< parents before children
    [[nodiscard]] std::int32_t num_links() const { return 2 * num_nodes(); }
    /// The shared capacity of a link; those of the middle's two links are not used.
    [[nodiscard]] std::int32_t capacity_of(std::int32_t link) const { return capacity_[at(link)]; }
    [[nodiscard]] std::int64_t bandwidth(std::int32_t link) const { return bandwidth_[at(link)]; }
    [[nodiscard]] std::int64_t delay_ns(std::int32_t link) const { return delay_ns_[at(link)]; }
    [[nodiscard]] bool has_delays() const { return has_delays_; }

    /// Of the transfer from computer s to computer r != s: its rate, the time its bytes take at that rate, rounded up,
    /// and the sum of delays.
    [[nodiscard]] std::int64_t rate(std::int32_t s, std::int32_t r) const { return rates_[pair(s, r)]; }
    [[nodiscard]] std::int64_t duration_ns(std::int32_t s, std::int32_t r) const { return time_of(rate(s, r)); }
    [[nodiscard]] std::int64_t path_delay_ns(std::int32_t s, std::int32_t r) const {
        return has_delays_ ? path_delays_[pair(s, r)] : 0;
    }
    [[nodiscard]] std::int64_t time_of(std::int64_t rate) const;

    /// Calls visit(link) along the path, in order.
    template <class Visit>
    void for_path(std::int32_t s, std::int32_t r, Visit&& visit) const {
        std::int32_t a = node_of(s), b = node_of(r);
        std::int32_t down[max_depth];
        std::int32_t num_down = 0;
        while (a != b) {
            if (depth_[at(a)] >= depth_[at(b)]) {
                visit(2 * a);
                a = parent_[at(a)];
            } else {
                down[num_down++] = 2 * b + 1;
                b = parent_[at(b)];
            }
        }
        while (num_down > 0) visit(down[--num_down]);
    }
    static constexpr std::int32_t max_depth = 256;
    static constexpr std::int64_t unlimited = std::int64_t{1} << 50U;  ///< bytes/s

private:
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] std::size_t pair(std::int32_t s, std::int32_t r) const { return at(s) * computers_.size() + at(r); }

    std::vector<std::int32_t> computers_, computer_at_;
    std::vector<Cable> cables_;
    std::int64_t bytes_;
    std::vector<std::int64_t> send_rates_;  // [computer] or empty
    std::int32_t middle_ = 0;
    std::vector<std::int32_t> parent_, depth_, order_;  // [node]
    std::vector<std::int32_t> capacity_;                // [link]
    std::vector<std::int64_t> bandwidth_, delay_ns_;    // [link]
    bool has_delays_ = false;
    std::vector<std::int64_t> rates_, path_delays_;  // [pair]
};

/// How long bytes take at a rate, rounded down.
[[nodiscard]] std::int64_t time_ns(std::int64_t bytes, std::int64_t bytes_per_s);

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;

/// A transfer of the message between computers, from when the first byte leaves to when the last has arrived.
struct Transfer {
    std::int32_t source, target;
    std::int64_t start_ns, end_ns;
};

/// What is wrong with a broadcast from `holders`, or "" if nothing is: each transfer's source has the message,
/// everybody gets it once, ends are right, and no bandwidth is exceeded. Plain and slow, apart from what the searches
/// use.
std::string faults_of(const Tree&, std::span<const std::int32_t> holders, std::span<const Transfer>);

}  // namespace hocket::search
