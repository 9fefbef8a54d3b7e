// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/patterns/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/random_order.hpp"

namespace hocket::patterns {
namespace {

void require(bool holds, const std::string& what) {
    if (!holds) throw InvalidInput("traffic pattern: " + what);
}

constexpr std::int64_t most_bytes = std::int64_t{1} << 52;  // of a message; twice as much is still an exact double

/// The messages of all ranks together are counted in 64 bits.
void check_total(std::int64_t messages, std::int64_t num_ranks, std::int64_t peers = 1) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    require(messages <= most / num_ranks / peers,
            std::to_string(messages) + " messages from each of " + std::to_string(num_ranks) + " ranks" +
                (peers > 1 ? " to each of its peers" : "") + "; accepted: at most 2^62 messages together");
}

/// What the patterns have in common: a number of ranks and of messages, and sizes.
class Pattern : public Traffic {
public:
    Pattern(std::int32_t num_ranks, std::int64_t num_messages, const MessageSizes& sizes)
        : num_ranks_(num_ranks), num_messages_(num_messages), sizes_(sizes) {
        require(num_ranks >= 1, std::to_string(num_ranks) + " ranks; at least 1 is needed");
        require(num_messages >= 0, std::to_string(num_messages) + " messages; the number cannot be negative");
        check_total(num_messages, num_ranks);
        require(sizes.bytes >= 0 && sizes.bytes <= most_bytes,
                std::to_string(sizes.bytes) + " bytes a message; accepted: 0 to 2^52");
        require(sizes.spread >= 0 && sizes.spread <= 1,
                "a spread of " + std::to_string(sizes.spread) + "; accepted: 0 to 1");
    }
    [[nodiscard]] std::int32_t num_sources() const override { return num_ranks_; }
    [[nodiscard]] std::int64_t num_messages(Rank) const override { return num_messages_; }

protected:
    [[nodiscard]] std::int64_t bytes(Rank source, std::int64_t i) const {
        if (!(sizes_.spread > 0)) return sizes_.bytes;
        const std::uint64_t bits = base::random_bits(base::random_bits(sizes_.seed, static_cast<std::uint64_t>(i)),
                                                     static_cast<std::uint64_t>(source.value));
        const double between = static_cast<double>(bits >> 11U) * 0x1p-52 - 1;  // [-1, 1)
        return std::llround(static_cast<double>(sizes_.bytes) * (1 + sizes_.spread * between));
    }
    /// (source + distance) mod num_ranks, 0 <= distance < num_ranks
    [[nodiscard]] Rank shifted(Rank source, std::int32_t distance) const {
        const std::int32_t room = num_ranks_ - source.value;
        return Rank{distance < room ? source.value + distance : distance - room};
    }

    std::int32_t num_ranks_;
    std::int64_t num_messages_;
    MessageSizes sizes_;
};

class RandomRing final : public Pattern {
public:
    RandomRing(std::int32_t num_ranks, std::int64_t num_messages, const MessageSizes& sizes, std::uint64_t seed)
        : Pattern(num_ranks, num_messages, sizes), order_(num_ranks, base::random_bits(seed, 0)) {}
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        return {Rank{order_.after(source.value)}, bytes(source, i)};
    }
    [[nodiscard]] std::int64_t num_targets(Rank) const override { return std::min(num_messages_, std::int64_t{1}); }

private:
    base::RandomOrder order_;
};

class RandomPermutation final : public Pattern {
public:
    RandomPermutation(std::int32_t num_ranks, std::int64_t num_messages, const MessageSizes& sizes, std::uint64_t seed)
        : Pattern(num_ranks, num_messages, sizes), seed_(seed) {}
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        const base::RandomOrder order(num_ranks_, base::random_bits(seed_, static_cast<std::uint64_t>(i)));
        return {Rank{order.after(source.value)}, bytes(source, i)};
    }

private:
    std::uint64_t seed_;
};

class Shift final : public Pattern {
public:
    Shift(std::int32_t num_ranks, std::int32_t distance, std::int64_t num_messages, const MessageSizes& sizes)
        : Pattern(num_ranks, num_messages, sizes), distance_((distance % num_ranks + num_ranks) % num_ranks) {}
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        return {shifted(source, distance_), bytes(source, i)};
    }
    [[nodiscard]] std::int64_t num_targets(Rank) const override { return std::min(num_messages_, std::int64_t{1}); }

private:
    std::int32_t distance_;
};

class AllToAll final : public Pattern {
public:
    AllToAll(std::int32_t num_ranks, std::int64_t rounds, const MessageSizes& sizes)
        : Pattern(num_ranks, rounds * (num_ranks - 1), sizes) {}
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        return {shifted(source, static_cast<std::int32_t>(i % (num_ranks_ - 1)) + 1), bytes(source, i)};
    }
    [[nodiscard]] std::int64_t num_targets(Rank) const override {
        return std::min(num_messages_, std::int64_t{num_ranks_} - 1);
    }
};

class Incast final : public Pattern {
public:
    Incast(std::int32_t num_ranks, Rank target, std::int64_t num_messages, const MessageSizes& sizes)
        : Pattern(num_ranks, num_messages, sizes), target_(target) {}
    [[nodiscard]] std::int64_t num_messages(Rank source) const override {
        return source == target_ ? 0 : num_messages_;
    }
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override { return {target_, bytes(source, i)}; }
    [[nodiscard]] std::int64_t num_targets(Rank source) const override {
        return std::min(num_messages(source), std::int64_t{1});
    }

private:
    Rank target_;
};

class NearestNeighbour final : public Pattern {
public:
    NearestNeighbour(std::int32_t num_ranks, std::vector<std::int32_t> extents, bool periodic, std::int64_t rounds,
                     const MessageSizes& sizes)
        : Pattern(num_ranks, rounds, sizes), extents_(std::move(extents)), periodic_(periodic) {
        std::int64_t most_neighbours = 0;
        for (const std::int32_t extent : extents_) most_neighbours += std::min(extent - 1, 2);
        check_total(rounds, num_ranks, std::max(most_neighbours, std::int64_t{1}));
    }

    [[nodiscard]] std::int64_t num_messages(Rank source) const override {
        return num_messages_ * num_neighbours(source);
    }
    [[nodiscard]] std::int64_t num_targets(Rank source) const override {
        return std::min(num_messages_, std::int64_t{1}) * num_neighbours(source);
    }
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        std::int64_t left = i % num_neighbours(source);
        Rank target;
        for_neighbours(source, [&](Rank neighbour) {
            target = neighbour;
            return left-- == 0;
        });
        return {target, bytes(source, i)};
    }

private:
    [[nodiscard]] std::int64_t num_neighbours(Rank source) const {
        std::int64_t neighbours = 0;
        for_neighbours(source, [&](Rank) { return ++neighbours, false; });
        return neighbours;
    }

    /// Until `visit` returns true. A dimension of two has one neighbour, not the same one twice.
    template <class Visit>
    void for_neighbours(Rank source, Visit&& visit) const {
        std::int32_t stride = num_ranks_;
        for (const std::int32_t extent : extents_) {
            stride /= extent;
            const std::int32_t at = source.value / stride % extent;
            if (extent == 1) continue;
            const bool wraps = periodic_ && extent > 2;
            if (at > 0 || wraps)
                if (visit(Rank{source.value + (at > 0 ? -stride : stride * (extent - 1))})) return;
            if (at + 1 < extent || wraps)
                if (visit(Rank{source.value + (at + 1 < extent ? stride : -stride * (extent - 1))})) return;
        }
    }

    std::vector<std::int32_t> extents_;
    bool periodic_;
};

class FromMatrix final : public Traffic {
public:
    FromMatrix(std::int32_t num_ranks, std::span<const std::int64_t> bytes) : num_ranks_(num_ranks) {
        const auto n = static_cast<std::size_t>(num_ranks);
        first_.push_back(0);
        for (std::size_t s = 0; s < n; ++s) {
            for (std::size_t k = 1; k <= n; ++k) {
                const std::size_t t = (s + k) % n;
                const std::int64_t size = bytes[s * n + t];
                require(size >= 0 && size <= most_bytes, "the matrix has " + std::to_string(size) +
                                                             " bytes from rank " + std::to_string(s) + " to rank " +
                                                             std::to_string(t) + "; accepted: 0 to 2^52");
                if (size > 0) messages_.push_back({Rank{static_cast<std::int32_t>(t)}, size});
            }
            first_.push_back(messages_.size());
        }
    }
    [[nodiscard]] std::int32_t num_sources() const override { return num_ranks_; }
    [[nodiscard]] std::int64_t num_messages(Rank source) const override {
        return static_cast<std::int64_t>(first_[source.at() + 1] - first_[source.at()]);
    }
    [[nodiscard]] Message message(Rank source, std::int64_t i) const override {
        return messages_[first_[source.at()] + static_cast<std::size_t>(i)];
    }

private:
    std::int32_t num_ranks_;
    std::vector<Message> messages_;
    std::vector<std::size_t> first_;  // [source] into messages_, and their number at the end
};

}  // namespace

std::unique_ptr<Traffic> random_ring(std::int32_t num_ranks, std::int64_t num_messages, const MessageSizes& sizes,
                                     std::uint64_t seed) {
    return std::make_unique<RandomRing>(num_ranks, num_messages, sizes, seed);
}

std::unique_ptr<Traffic> random_permutation(std::int32_t num_ranks, std::int64_t num_messages,
                                            const MessageSizes& sizes, std::uint64_t seed) {
    return std::make_unique<RandomPermutation>(num_ranks, num_messages, sizes, seed);
}

std::unique_ptr<Traffic> shift(std::int32_t num_ranks, std::int32_t distance, std::int64_t num_messages,
                               const MessageSizes& sizes) {
    require(num_ranks >= 1, std::to_string(num_ranks) + " ranks; at least 1 is needed");
    return std::make_unique<Shift>(num_ranks, distance, num_messages, sizes);
}

std::unique_ptr<Traffic> all_to_all(std::int32_t num_ranks, std::int64_t rounds, const MessageSizes& sizes) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    require(rounds >= 0 && rounds <= most, std::to_string(rounds) + " rounds; accepted: 0 to 2^31");
    return std::make_unique<AllToAll>(num_ranks, rounds, sizes);
}

std::unique_ptr<Traffic> incast(std::int32_t num_ranks, Rank target, std::int64_t num_messages,
                                const MessageSizes& sizes) {
    require(target.value >= 0 && target.value < num_ranks,
            "the target, rank " + std::to_string(target.value) + ", is not in 0.." + std::to_string(num_ranks - 1));
    return std::make_unique<Incast>(num_ranks, target, num_messages, sizes);
}

std::unique_ptr<Traffic> nearest_neighbour(std::vector<std::int32_t> extents, bool periodic, std::int64_t rounds,
                                           const MessageSizes& sizes) {
    std::int64_t num_ranks = 1;
    for (const std::int32_t extent : extents) {
        require(extent >= 1, "a grid of extent " + std::to_string(extent) + "; at least 1 is needed");
        num_ranks *= extent;
        require(num_ranks <= std::numeric_limits<std::int32_t>::max(), "the grid has more than 2^31 - 1 points");
    }
    return std::make_unique<NearestNeighbour>(static_cast<std::int32_t>(num_ranks), std::move(extents), periodic,
                                              rounds, sizes);
}

std::unique_ptr<Traffic> from_matrix(std::int32_t num_ranks, std::span<const std::int64_t> bytes) {
    require(num_ranks >= 1, std::to_string(num_ranks) + " ranks; at least 1 is needed");
    const auto n = static_cast<std::size_t>(num_ranks);
    require(bytes.size() == n * n, "a matrix of " + std::to_string(bytes.size()) + " numbers for " +
                                       std::to_string(num_ranks) + " ranks; their square is needed");
    return std::make_unique<FromMatrix>(num_ranks, bytes);
}

}  // namespace hocket::patterns
