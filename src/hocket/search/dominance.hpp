// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hocket/search/canonical.hpp"
#include "hocket/search/state.hpp"

namespace hocket::search {

/// States that have been looked at, by who is informed. One is as good as another one, or better, if it is no later,
/// each of the informed is ready no later, and no link carries more from the other's instant on: whatever follows the
/// other can follow it, and so end no later. That holds without delays, where starting transfers earlier is never
/// worse. Several threads may ask at once.
class Dominance {
public:
    explicit Dominance(const Tree&);

    /// Whether a state as good has been seen; if not, this one has been from now on.
    bool is_dominated(const State&);
    [[nodiscard]] std::int64_t num_bytes() const { return num_bytes_; }

private:
    struct Use {
        std::int32_t capacity;
        std::int64_t end_ns, rate;
    };
    struct Seen {
        std::int64_t now_ns;
        std::size_t first_ready, first_use, num_uses;
        std::int64_t next;  // -1 = the last
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<Key, std::int64_t> first;
        std::vector<Seen> seen;
        std::vector<std::int64_t> ready;
        std::vector<Use> uses;
    };
    [[nodiscard]] bool is_as_good(const Shard&, const Seen&, const State&) const;

    const Tree* tree_;
    std::vector<std::uint64_t> salts_;  // [computer]
    std::array<Shard, 64> shards_;
    std::atomic<std::int64_t> num_bytes_ = 0;
};

}  // namespace hocket::search
