// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/candidates.hpp"

#include <algorithm>
#include <tuple>

namespace hocket::search {
namespace {

/// Whether `key` is new; remembers it.
bool is_new(std::vector<Key>& seen, const Key& key) {
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) return false;
    seen.push_back(key);
    return true;
}

}  // namespace

void Candidates::list(const State& state, std::vector<Transfer>& out) {
    const Tree& tree = state.tree();
    out.clear();
    canonical_.read(state);
    senders_.clear();
    receivers_.clear();
    seen_.clear();
    for (std::int32_t c = 0; c < tree.num_computers(); ++c) {
        if (!state.informed(c))
            receivers_.push_back(c);
        else if (is_new(seen_, canonical_.key_with(c)))
            senders_.push_back(c);
    }
    // Of computers that stand for others at one place, several may make the same transfer.
    std::vector<std::tuple<std::int32_t, std::int64_t, std::int64_t>> alike;
    std::int64_t first_end = never;
    for (const std::int32_t s : senders_) {
        seen_.clear();
        for (const std::int32_t r : receivers_) {
            if (!is_new(seen_, canonical_.key_with(s, r))) continue;
            const std::int64_t start = state.earliest_start(s, r);
            if (tree.stands_for_others(s)) {
                const std::tuple one(r, start, tree.rate(s, r));
                if (std::find(alike.begin(), alike.end(), one) != alike.end()) continue;
                alike.push_back(one);
            }
            const std::int64_t end = start + tree.duration_ns(s, r) + tree.path_delay_ns(s, r);
            first_end = std::min(first_end, end);
            if (!tree.has_delays() && start > state.ready_ns(s))
                first_end = std::min(first_end, state.earliest_start(s, r, 0) + tree.duration_ns(s, r));
            out.push_back({s, r, start, end});
        }
    }
    std::erase_if(out, [&](const Transfer& t) { return t.start_ns >= first_end; });
}

}  // namespace hocket::search
