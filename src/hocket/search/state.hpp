// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

/// A broadcast some of whose transfers are fixed. Transfers are added in the order of their starts, each as early as
/// the others and its source allow. Cheap to copy, and the last transfer can be taken back.
class State {
public:
    State(const Tree& tree, std::span<const std::int32_t> holders)
        : tree_(&tree),
          ready_ns_(static_cast<std::size_t>(tree.num_computers()), never),
          last_(static_cast<std::size_t>(tree.num_links()), -1) {
        for (const std::int32_t holder : holders) {
            ready_ns_[static_cast<std::size_t>(holder)] = 0;
            ++num_informed_;
        }
    }
    /// With holders that have the message from `from_ns[holder]` on.
    State(const Tree& tree, std::span<const std::int32_t> holders, std::span<const std::int64_t> from_ns)
        : State(tree, holders) {
        for (std::size_t i = 0; i < holders.size(); ++i) ready_ns_[static_cast<std::size_t>(holders[i])] = from_ns[i];
    }

    [[nodiscard]] const Tree& tree() const { return *tree_; }
    [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }  ///< no transfer will start before
    [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }  ///< of all transfers so far
    [[nodiscard]] std::int32_t num_informed() const { return num_informed_; }
    [[nodiscard]] bool complete() const { return num_informed_ == tree_->num_computers(); }
    /// When the computer has the message; `never` if no transfer to it is fixed.
    [[nodiscard]] std::int64_t ready_ns(std::int32_t computer) const {
        return ready_ns_[static_cast<std::size_t>(computer)];
    }
    [[nodiscard]] bool informed(std::int32_t computer) const { return ready_ns(computer) != never; }

    /// From `from_ns` on, and when the sender has the message.
    [[nodiscard]] std::int64_t earliest_start(std::int32_t s, std::int32_t r, std::int64_t from_ns) const;
    [[nodiscard]] std::int64_t earliest_start(std::int32_t s, std::int32_t r) const {
        return earliest_start(s, r, now_ns_);
    }
    void add(std::int32_t s, std::int32_t r, std::int64_t start_ns);
    void take_back();

    [[nodiscard]] std::span<const Transfer> transfers() const { return transfers_; }

    /// Calls visit(start, end, rate) for what is reserved of a capacity, the newest first.
    template <class Visit>
    void for_reserved(std::int32_t capacity, Visit&& visit) const {
        for (std::int32_t i = last_[static_cast<std::size_t>(capacity)]; i >= 0;) {
            const Reserved& one = reserved_[static_cast<std::size_t>(i)];
            visit(one.start_ns, one.end_ns, one.rate);
            i = one.before;
        }
    }

private:
    struct Reserved {
        std::int64_t start_ns, end_ns, rate;
        std::int32_t capacity;
        std::int32_t before;  ///< on the same capacity
    };
    struct Undo {
        std::int64_t now_ns, end_ns;
        std::size_t num_reserved;
    };
    /// The earliest instant from `start` on when `capacity` has `rate` left for `duration`.
    [[nodiscard]] std::int64_t earliest_on(std::int32_t capacity, std::int64_t bandwidth, std::int64_t rate,
                                           std::int64_t duration, std::int64_t start) const;

    const Tree* tree_;
    std::int64_t now_ns_ = 0, end_ns_ = 0;
    std::int32_t num_informed_ = 0;
    std::vector<std::int64_t> ready_ns_;  // [computer]
    std::vector<std::int32_t> last_;      // [capacity] into reserved_
    std::vector<Reserved> reserved_;
    std::vector<Transfer> transfers_;
    std::vector<Undo> undo_;
};

}  // namespace hocket::search
