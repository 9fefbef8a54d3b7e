// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/circuits/circuit.hpp"

namespace hocket::circuits {

/// Numbers pairs of hosts in the order in which they are asked for. One array without pointers: a look-up, of which
/// every message needs one, is one access to memory in most cases.
class PairNumbers {
public:
    /// And whether it is new.
    std::pair<std::int32_t, bool> number_of(HostPair pair) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place_of(pair)];
        const bool is_new = slot.number < 0;
        if (is_new) slot = {pair, static_cast<std::int32_t>(count_++)};
        return {slot.number, is_new};
    }

private:
    struct Slot {
        HostPair pair{};
        std::int32_t number = -1;  ///< -1: free
    };

    /// Where it is, or may be put: linear probing from a multiplicative hash [Knuth, The Art of Computer Programming
    /// 3].
    [[nodiscard]] std::size_t place_of(HostPair pair) const {
        const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(pair.first.value)} << 32U |
                                  static_cast<std::uint32_t>(pair.second.value);
        std::size_t place = (key * 0x9E3779B97F4A7C15U >> 32U) & (slots_.size() - 1);
        while (slots_[place].number >= 0 && slots_[place].pair != pair) place = (place + 1) & (slots_.size() - 1);
        return place;
    }
    void grow() {
        std::vector<Slot> before(slots_.empty() ? 64 : 2 * slots_.size());
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.number >= 0) slots_[place_of(slot.pair)] = slot;
    }

    std::vector<Slot> slots_;  // a power of two
    std::size_t count_ = 0;
};

}  // namespace hocket::circuits
