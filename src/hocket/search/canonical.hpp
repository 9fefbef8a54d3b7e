// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hocket/search/state.hpp"

namespace hocket::search {

/// 128 bits that are the same for states that an automorphism of the tree maps to each other, times counted from now;
/// for others different but for a chance of about 2^-100.
struct Key {
    std::uint64_t high = 0, low = 0;
    bool operator==(const Key&) const = default;
};

/// Keys of a state, and of the state with one or two computers marked: computers with the same key of their own are
/// mapped to each other by an automorphism that keeps the state, and pairs with the same key too.
///
/// A subtree is hashed bottom-up as a set of its branches [AhoHopcroftUllman74, sec. 3.2], with a sum that does not
/// depend on their order, so that marking a computer changes the hashes on its way to the middle only.
class Canonical {
public:
    explicit Canonical(const Tree&);

    void read(const State&);
    [[nodiscard]] Key key() const { return hash_[static_cast<std::size_t>(tree_->middle())]; }
    [[nodiscard]] Key key_with(std::int32_t marked);
    [[nodiscard]] Key key_with(std::int32_t sender, std::int32_t receiver);

private:
    [[nodiscard]] Key branch(std::int32_t node, Key hash) const;
    void mark(std::int32_t computer, std::uint64_t salt);
    void restore();

    const Tree* tree_;
    std::vector<Key> static_link_;      // [node] of the cable to the parent: bandwidths and delays
    std::vector<Key> link_;             // [node] the same with what is reserved
    std::vector<std::uint64_t> label_;  // [node]
    std::vector<Key> sum_, hash_;       // [node] sum over branches; of the subtree
    struct Saved {
        std::int32_t node;
        std::uint64_t label;
        Key sum, hash;
    };
    std::vector<Saved> saved_;
};

}  // namespace hocket::search

template <>
struct std::hash<hocket::search::Key> {
    std::size_t operator()(const hocket::search::Key& key) const noexcept { return key.low; }
};
