// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/schedule/contributions.hpp"

#include <algorithm>
#include <bit>

namespace hocket::schedule {

Contributions::Contributions(std::int32_t num_ranks)
    : num_ranks_(num_ranks), words_((static_cast<std::size_t>(num_ranks) + 63) / 64) {
    const auto p = static_cast<std::size_t>(num_ranks);
    sets_.assign(p * words_, 0);
    for (std::size_t r = 0; r < p; ++r) {
        sets_[r * words_ + r / 64] = std::uint64_t{1} << r % 64;
        spans_.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(r) + 1});
        trees_.push_back(static_cast<std::int32_t>(r));
    }
}

Contributions::Value Contributions::combine(Value left, Value right) {
    const auto [entry, is_new] = values_.try_emplace({left, right}, static_cast<Value>(spans_.size()));
    if (!is_new) return entry->second;
    sets_.resize(sets_.size() + words_);
    const auto l = static_cast<std::size_t>(left);
    const auto r = static_cast<std::size_t>(right);
    std::uint64_t* const set = sets_.data() + spans_.size() * words_;
    for (std::size_t w = 0; w < words_; ++w) set[w] = sets_[l * words_ + w] | sets_[r * words_ + w];
    const bool follows = spans_[l].begin >= 0 && spans_[r].begin >= 0 && spans_[l].end == spans_[r].begin;
    spans_.push_back(follows ? Span{spans_[l].begin, spans_[r].end} : Span{-1, -1});
    const auto next_tree = num_ranks_ + static_cast<std::int32_t>(tree_numbers_.size());
    trees_.push_back(tree_numbers_.try_emplace(std::minmax({trees_[l], trees_[r]}), next_tree).first->second);
    return entry->second;
}

std::int32_t Contributions::common(Value a, Value b) const {
    for (std::size_t w = 0; w < words_; ++w)
        if (const std::uint64_t both = set_of(a)[w] & set_of(b)[w]; both != 0)
            return static_cast<std::int32_t>(w) * 64 + std::countr_zero(both);
    return -1;
}

bool Contributions::complete(Value value) const {
    int count = 0;
    for (const std::uint64_t word : set_of(value)) count += std::popcount(word);
    return count == num_ranks_;
}

bool Contributions::in_rank_order(Value value) const {
    const Span& span = spans_[static_cast<std::size_t>(value)];
    return span.begin == 0 && span.end == num_ranks_;
}

std::string Contributions::describe(Value value) const {
    const std::span<const std::uint64_t> set = set_of(value);
    const auto has = [&](std::int32_t r) {
        return r < num_ranks_ && (set[static_cast<std::size_t>(r) / 64] >> r % 64 & 1) != 0;
    };
    std::string text;
    for (std::int32_t r = 0; r < num_ranks_; ++r) {
        if (!has(r)) continue;
        const std::int32_t first = r;
        while (has(r + 1)) ++r;
        text += (text.empty() ? "" : ", ") + std::to_string(first);
        if (r > first) text += (r == first + 1 ? ", " : " to ") + std::to_string(r);
    }
    return text;
}

}  // namespace hocket::schedule
