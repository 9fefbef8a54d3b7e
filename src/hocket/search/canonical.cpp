// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/canonical.hpp"

#include <algorithm>

namespace hocket::search {
namespace {

/// The finaliser of SplitMix64 [Steele14].
std::uint64_t mix(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}
std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(mix(a) ^ (b * 0xD6E8FEB86659FD93U + 1)); }
Key mix(Key a, std::uint64_t b) { return {mix(a.high, b ^ 0x5851F42D4C957F2DU), mix(a.low, b)}; }
Key mix(Key a, Key b) { return {mix(a.high, b.high), mix(a.low, b.low)}; }
Key plus(Key a, Key b) { return {a.high + b.high, a.low + b.low}; }
Key minus(Key a, Key b) { return {a.high - b.high, a.low - b.low}; }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

constexpr std::uint64_t relay = 1, uninformed = 2, informed = 3;

}  // namespace

Canonical::Canonical(const Tree& tree)
    : tree_(&tree),
      static_link_(at(tree.num_nodes())),
      link_(static_link_.size()),
      label_(static_link_.size()),
      sum_(static_link_.size()),
      hash_(static_link_.size()) {
    for (std::int32_t v = 0; v < tree.num_nodes(); ++v) {
        if (v == tree.middle()) continue;
        Key key{11, 13};
        for (const std::int32_t link : {2 * v, 2 * v + 1}) {
            key = mix(key, bits(tree.bandwidth(link)));
            key = mix(key, bits(tree.delay_ns(link)));
        }
        static_link_[at(v)] = mix(key, bits(tree.capacity_of(2 * v) == tree.capacity_of(2 * v + 1)));
    }
}

Key Canonical::branch(std::int32_t node, Key hash) const { return mix(link_[at(node)], hash); }

void Canonical::read(const State& state) {
    const std::int64_t now = state.now_ns();
    for (std::int32_t v = 0; v < tree_->num_nodes(); ++v) {
        const std::int32_t computer = tree_->computer_at(v);
        label_[at(v)] = computer < 0 ? relay
                        : !state.informed(computer)
                            ? uninformed
                            : informed + bits(std::max<std::int64_t>(0, state.ready_ns(computer) - now));
        if (computer >= 0) label_[at(v)] = mix(label_[at(v)], bits(tree_->send_rate(computer)));
        sum_[at(v)] = {};
        if (v == tree_->middle()) continue;
        Key key = static_link_[at(v)];
        for (const std::int32_t link : {2 * v, 2 * v + 1}) {
            if (tree_->capacity_of(link) != link) continue;
            Key reserved{};  // a set
            state.for_reserved(link, [&](std::int64_t start, std::int64_t end, std::int64_t rate) {
                if (end <= now) return;
                const Key one{bits(std::max<std::int64_t>(0, start - now)), bits(end - now)};
                reserved = plus(reserved, mix(mix({one.low, one.high}, one), bits(rate)));
            });
            key = mix(key, reserved);
        }
        link_[at(v)] = key;
    }
    const auto order = tree_->order();
    for (std::size_t i = order.size(); i-- > 0;) {
        const std::int32_t v = order[i];
        hash_[at(v)] = mix(sum_[at(v)], label_[at(v)]);
        if (v != tree_->middle())
            sum_[at(tree_->parent(v))] = plus(sum_[at(tree_->parent(v))], branch(v, hash_[at(v)]));
    }
}

void Canonical::mark(std::int32_t computer, std::uint64_t salt) {
    std::int32_t v = tree_->node_of(computer);
    saved_.push_back({v, label_[at(v)], sum_[at(v)], hash_[at(v)]});
    label_[at(v)] = mix(label_[at(v)], salt);
    for (;;) {
        const Key before = hash_[at(v)];
        hash_[at(v)] = mix(sum_[at(v)], label_[at(v)]);
        if (v == tree_->middle()) return;
        const std::int32_t parent = tree_->parent(v);
        saved_.push_back({parent, label_[at(parent)], sum_[at(parent)], hash_[at(parent)]});
        sum_[at(parent)] = plus(minus(sum_[at(parent)], branch(v, before)), branch(v, hash_[at(v)]));
        v = parent;
    }
}

void Canonical::restore() {
    for (; !saved_.empty(); saved_.pop_back()) {
        const Saved& one = saved_.back();
        label_[at(one.node)] = one.label;
        sum_[at(one.node)] = one.sum;
        hash_[at(one.node)] = one.hash;
    }
}

Key Canonical::key_with(std::int32_t marked) {
    mark(marked, 17);
    const Key found = key();
    restore();
    return found;
}

Key Canonical::key_with(std::int32_t sender, std::int32_t receiver) {
    mark(sender, 17);
    mark(receiver, 19);
    const Key found = key();
    restore();
    return found;
}

}  // namespace hocket::search
