// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

// The fat tree of a case as the peers are told of it, written apart from hocket's own, which a test holds it against.

#include <array>
#include <cstdint>
#include <vector>

namespace peers {

/// Children n1, n2, n3 of the switches of levels 1, 2, 3; n1 cables up from level 1 and n2 from level 2. Routes are
/// d-mod-k: on the way to host d, a switch of level 1 takes its cable d mod n1 up, one of level 2 its cable d / n1 mod
/// n2.
class FatTree {
public:
    explicit FatTree(const std::array<std::int32_t, 3>& children)
        : n1_(children[0]), n2_(children[1]), n3_(children[2]), hosts_(n1_ * n2_ * n3_) {}

    [[nodiscard]] std::int32_t num_hosts() const { return hosts_; }
    [[nodiscard]] std::int32_t num_leaves() const { return n2_ * n3_; }   ///< switches of level 1
    [[nodiscard]] std::int32_t num_middles() const { return n1_ * n3_; }  ///< switches of level 2
    [[nodiscard]] std::int32_t num_tops() const { return n1_ * n2_; }     ///< switches of level 3
    [[nodiscard]] std::int32_t num_switches() const { return num_leaves() + num_middles() + num_tops(); }
    [[nodiscard]] std::int32_t num_cables() const { return 3 * hosts_; }

    // Nodes: the hosts, then the switches level by level.
    [[nodiscard]] std::int32_t leaf(std::int32_t host) const { return hosts_ + host / n1_; }
    [[nodiscard]] std::int32_t middle(std::int32_t pod, std::int32_t k) const {
        return hosts_ + num_leaves() + pod * n1_ + k;
    }
    [[nodiscard]] std::int32_t top(std::int32_t k, std::int32_t j) const {
        return hosts_ + num_leaves() + num_middles() + j * n1_ + k;
    }
    [[nodiscard]] std::int32_t pod(std::int32_t host) const { return host / (n1_ * n2_); }

    struct Cable {
        std::int32_t below, above;
    };
    /// Those of hosts first, then those above level 1, then those above level 2.
    [[nodiscard]] Cable cable(std::int32_t number) const {
        const std::int32_t in_level = number % hosts_;
        if (number < hosts_) return {in_level, leaf(in_level)};
        if (number < 2 * hosts_) {
            const std::int32_t leaf_number = in_level / n1_;
            return {hosts_ + leaf_number, middle(leaf_number / n2_, in_level % n1_)};
        }
        const std::int32_t middle_number = in_level / n2_;
        return {hosts_ + num_leaves() + middle_number, top(middle_number % n1_, in_level % n2_)};
    }

    struct Hop {
        std::int32_t cable;
        bool upwards;
    };
    /// From host a to host b, in order.
    void route(std::int32_t a, std::int32_t b, std::vector<Hop>& out) const {
        out.clear();
        if (a == b) return;
        const std::int32_t k = b % n1_, j = b / n1_ % n2_;
        const auto above_leaf = [&](std::int32_t host) { return hosts_ + host / n1_ * n1_ + k; };
        const auto above_middle = [&](std::int32_t host) { return 2 * hosts_ + (pod(host) * n1_ + k) * n2_ + j; };
        const bool past_leaf = a / n1_ != b / n1_, past_middle = pod(a) != pod(b);
        out.push_back({a, true});
        if (past_leaf) out.push_back({above_leaf(a), true});
        if (past_middle) out.push_back({above_middle(a), true});
        if (past_middle) out.push_back({above_middle(b), false});
        if (past_leaf) out.push_back({above_leaf(b), false});
        out.push_back({b, false});
    }

private:
    std::int32_t n1_, n2_, n3_, hosts_;
};

}  // namespace peers
