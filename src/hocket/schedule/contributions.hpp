// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hocket::schedule {

/// What a chunk of a reduction holds, symbolically: an expression over the contributions of the ranks. Equal
/// expressions have equal numbers, so that thousands of segments that take the same way share one entry of p bits.
class Contributions {
public:
    using Value = std::int32_t;

    /// Values 0 .. num_ranks-1 are the contributions of the ranks.
    explicit Contributions(std::int32_t num_ranks);

    /// The value left (op) right.
    Value combine(Value left, Value right);

    /// A rank that contributes to both, or -1.
    [[nodiscard]] std::int32_t common(Value a, Value b) const;
    /// Every rank contributes (once, as long as no two values with a common rank were combined).
    [[nodiscard]] bool complete(Value value) const;
    /// The contributions stand in the order 0 .. p-1.
    [[nodiscard]] bool in_rank_order(Value value) const;
    /// Equal for two values that differ only by exchanged operands.
    [[nodiscard]] std::int32_t tree(Value value) const { return trees_[static_cast<std::size_t>(value)]; }
    /// "0, 1, 5 to 7"
    [[nodiscard]] std::string describe(Value value) const;

private:
    struct Span {
        std::int32_t begin,
            end;  ///< ranks begin .. end-1 in order; begin = -1: in another order
    };
    struct PairHash {
        std::size_t operator()(std::pair<std::int32_t, std::int32_t> pair) const noexcept {
            const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.first)) << 32 |
                             static_cast<std::uint32_t>(pair.second);
            return static_cast<std::size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15U);
        }
    };
    using PairNumbers = std::unordered_map<std::pair<std::int32_t, std::int32_t>, std::int32_t, PairHash>;

    [[nodiscard]] std::span<const std::uint64_t> set_of(Value value) const {
        return {sets_.data() + static_cast<std::size_t>(value) * words_, words_};
    }

    std::int32_t num_ranks_;
    std::size_t words_;                ///< 64 ranks each
    std::vector<std::uint64_t> sets_;  ///< [value][word]
    std::vector<Span> spans_;          ///< [value]
    std::vector<std::int32_t> trees_;  ///< [value]
    PairNumbers values_;               ///< (left, right)
    PairNumbers tree_numbers_;         ///< (smaller tree, larger tree)
};

}  // namespace hocket::schedule
