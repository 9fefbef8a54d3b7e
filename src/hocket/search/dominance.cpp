// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/dominance.hpp"

#include <algorithm>

#include "hocket/base/random.hpp"

namespace hocket::search {

Dominance::Dominance(const Tree& tree) : tree_(&tree) {
    base::Random random(1);
    for (std::int32_t i = 0; i < 2 * tree.num_computers(); ++i) salts_.push_back(random.bits());
}

bool Dominance::is_as_good(const Shard& shard, const Seen& other, const State& state) const {
    const std::vector<Use>& uses = shard.uses;
    const std::int64_t now = state.now_ns();
    if (other.now_ns > now) return false;
    std::size_t at = other.first_ready;
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c)
        if (state.informed(c) && shard.ready[at++] > std::max(state.ready_ns(c), now)) return false;
    for (std::size_t i = other.first_use; i < other.first_use + other.num_uses; ++i) {
        const std::int32_t capacity = uses[i].capacity;
        if (i > other.first_use && uses[i - 1].capacity == capacity) continue;
        // Loads fall only, so that the other's is checked where this one's has just fallen.
        const auto carries_less_at = [&](std::int64_t t) {
            std::int64_t load = 0;
            for (std::size_t k = i; k < other.first_use + other.num_uses && uses[k].capacity == capacity; ++k)
                if (uses[k].end_ns > t) load += uses[k].rate;
            if (load == 0) return true;
            state.for_reserved(capacity, [&](std::int64_t, std::int64_t end, std::int64_t rate) {
                if (end > t) load -= rate;
            });
            return load <= 0;
        };
        bool less = carries_less_at(now);
        state.for_reserved(capacity, [&](std::int64_t, std::int64_t end, std::int64_t) {
            if (end > now) less = less && carries_less_at(end);
        });
        if (!less) return false;
    }
    return true;
}

bool Dominance::is_dominated(const State& state) {
    Key key;
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c)
        if (state.informed(c)) {
            key.high ^= salts_[static_cast<std::size_t>(2 * c)];
            key.low ^= salts_[static_cast<std::size_t>(2 * c + 1)];
        }
    Shard& shard = shards_[key.high % shards_.size()];
    const std::scoped_lock lock(shard.mutex);
    std::int64_t& first = shard.first.try_emplace(key, -1).first->second;
    for (std::int64_t i = first; i >= 0; i = shard.seen[static_cast<std::size_t>(i)].next)
        if (is_as_good(shard, shard.seen[static_cast<std::size_t>(i)], state)) return true;
    Seen one{state.now_ns(), shard.ready.size(), shard.uses.size(), 0, first};
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c)
        if (state.informed(c)) shard.ready.push_back(state.ready_ns(c));
    for (std::int32_t capacity = 0; capacity < tree_->num_links(); ++capacity)
        state.for_reserved(capacity, [&](std::int64_t, std::int64_t end, std::int64_t rate) {
            if (end > state.now_ns()) shard.uses.push_back({capacity, end, rate});
        });
    one.num_uses = shard.uses.size() - one.first_use;
    first = static_cast<std::int64_t>(shard.seen.size());
    shard.seen.push_back(one);
    num_bytes_ +=
        static_cast<std::int64_t>(sizeof(Seen) + sizeof(std::int64_t) * static_cast<std::size_t>(state.num_informed()) +
                                  sizeof(Use) * one.num_uses + 48);
    return false;
}

}  // namespace hocket::search
