// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <bit>
#include <cstdint>

namespace hocket::base {

/// The k-th random number of a seed, without those before it: the finaliser of SplitMix64 [Steele14].
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t k) {
    std::uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

/// A random order of 0 .. size-1 in constant memory: a Feistel network [LubyRackoff88] on the bits of size - 1, walked
/// until it comes back into the range [BlackRogaway02]. Each step adds to one half of the bits a function of the other
/// half, and so undoes itself.
class RandomOrder {
public:
    RandomOrder(std::int32_t size, std::uint64_t seed) : size_(static_cast<std::uint32_t>(size)), seed_(seed) {
        const auto bits = static_cast<unsigned>(std::bit_width(size_ - 1));
        low_bits_ = bits / 2;
        low_mask_ = (1U << low_bits_) - 1;
        high_mask_ = (1U << (bits - low_bits_)) - 1;
    }

    /// What stands at a place.
    [[nodiscard]] std::int32_t at(std::int32_t place) const {
        auto x = static_cast<std::uint32_t>(place);
        do {
            std::uint32_t low = x & low_mask_, high = x >> low_bits_;
            for (std::uint32_t step = 0; step < steps; step += 2) {
                low ^= mix(high, step) & low_mask_;
                high ^= mix(low, step + 1) & high_mask_;
            }
            x = high << low_bits_ | low;
        } while (x >= size_);
        return static_cast<std::int32_t>(x);
    }
    /// Where it stands: at(place_of(x)) == x.
    [[nodiscard]] std::int32_t place_of(std::int32_t item) const {
        auto x = static_cast<std::uint32_t>(item);
        do {
            std::uint32_t low = x & low_mask_, high = x >> low_bits_;
            for (std::uint32_t step = steps; step > 0; step -= 2) {
                high ^= mix(low, step - 1) & high_mask_;
                low ^= mix(high, step - 2) & low_mask_;
            }
            x = high << low_bits_ | low;
        } while (x >= size_);
        return static_cast<std::int32_t>(x);
    }
    /// What follows an item, when the order is closed to a ring.
    [[nodiscard]] std::int32_t after(std::int32_t item) const {
        const std::int32_t place = place_of(item) + 1;
        return at(place == static_cast<std::int32_t>(size_) ? 0 : place);
    }

private:
    static constexpr std::uint32_t steps = 8;
    [[nodiscard]] std::uint32_t mix(std::uint32_t half, std::uint32_t step) const {
        std::uint64_t z = (seed_ + (static_cast<std::uint64_t>(step) << 32U) + half) * 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 32U)) * 0xBF58476D1CE4E5B9U;
        return static_cast<std::uint32_t>(z >> 40U);
    }

    std::uint32_t size_;
    std::uint64_t seed_;
    unsigned low_bits_;
    std::uint32_t low_mask_, high_mask_;
};

}  // namespace hocket::base
