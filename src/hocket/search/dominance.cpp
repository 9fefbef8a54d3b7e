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

bool Dominance::is_as_good(const Seen& other, const State& state) const {
    const std::int64_t now = state.now_ns();
    if (other.now_ns > now) return false;
    std::size_t at = other.first_ready;
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c)
        if (state.informed(c) && ready_[at++] > std::max(state.ready_ns(c), now)) return false;
    for (std::size_t i = other.first_use; i < other.first_use + other.num_uses; ++i) {
        const std::int32_t capacity = uses_[i].capacity;
        if (i > other.first_use && uses_[i - 1].capacity == capacity) continue;
        // Loads fall only, so that the other's is checked where this one's has just fallen.
        const auto carries_less_at = [&](std::int64_t t) {
            std::int64_t load = 0;
            for (std::size_t k = i; k < other.first_use + other.num_uses && uses_[k].capacity == capacity; ++k)
                if (uses_[k].end_ns > t) load += uses_[k].rate;
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
    std::int64_t& first = first_.try_emplace(key, -1).first->second;
    for (std::int64_t i = first; i >= 0; i = seen_[static_cast<std::size_t>(i)].next)
        if (is_as_good(seen_[static_cast<std::size_t>(i)], state)) return true;
    Seen one{state.now_ns(), ready_.size(), uses_.size(), 0, first};
    for (std::int32_t c = 0; c < tree_->num_computers(); ++c)
        if (state.informed(c)) ready_.push_back(state.ready_ns(c));
    for (std::int32_t capacity = 0; capacity < tree_->num_links(); ++capacity)
        state.for_reserved(capacity, [&](std::int64_t, std::int64_t end, std::int64_t rate) {
            if (end > state.now_ns()) uses_.push_back({capacity, end, rate});
        });
    one.num_uses = uses_.size() - one.first_use;
    first = static_cast<std::int64_t>(seen_.size());
    seen_.push_back(one);
    return false;
}

}  // namespace hocket::search
