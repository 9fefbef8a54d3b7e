// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "hocket/search/bound.hpp"
#include "hocket/search/candidates.hpp"
#include "hocket/search/dominance.hpp"
#include "hocket/search/watch.hpp"

namespace hocket::search {

/// States that have been looked at, up to automorphisms, and the earliest instant of each.
class Memo {
public:
    /// Whether the state has not been seen this early; remembers it.
    bool is_earliest(const Key& key, std::int64_t now_ns) {
        Shard& shard = shards_[key.high % shards_.size()];
        const std::scoped_lock lock(shard.mutex);
        const auto [place, is_new] = shard.earliest_ns.try_emplace(key, now_ns);
        if (!is_new && now_ns >= place->second) return false;
        place->second = now_ns;
        return true;
    }

private:
    struct Shard {
        std::mutex mutex;
        std::unordered_map<Key, std::int64_t> earliest_ns;
    };
    std::array<Shard, 64> shards_;
};

/// Branches on the open state with the least bound, which is a bound for all; several threads on as many states. What
/// one thread finds, the others use at once: incumbent, memo, dominance.
class BestFirst {
public:
    /// `subtrees` as in Bound.
    BestFirst(const Tree&, const State& root, Watch&, std::span<const SubtreeBound> subtrees = {});

    /// Until the best schedule of the watch is proven, or the watch ends the search, or after `num_nodes`.
    void run(std::int64_t num_nodes = std::numeric_limits<std::int64_t>::max());

private:
    struct Node {
        std::int64_t bound_ns;
        std::int64_t parent;
        Transfer transfer;
        std::int32_t depth;
    };
    class Worker;
    /// The next state to branch on, its way from the root in `way`; -1 when there is none.
    std::int64_t take(Worker&);
    void give(std::int64_t parent, Worker&);
    [[nodiscard]] bool is_later(std::int64_t a, std::int64_t b) const;

    const Tree& tree_;
    const State& root_;
    Watch& watch_;
    std::span<const SubtreeBound> subtrees_;
    Memo memo_;
    Dominance dominance_;
    std::int64_t last_node_ = 0, num_taken_ = 0;
    std::atomic<bool> ended_ = false;
    std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::vector<Node> nodes_;
    std::vector<std::int64_t> heap_;
    std::vector<std::int64_t> under_way_ns_;  // bounds of the states that threads branch on
};

}  // namespace hocket::search
