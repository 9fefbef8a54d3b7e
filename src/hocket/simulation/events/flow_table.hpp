// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hocket/base/big_array.hpp"

namespace hocket::simulation {

/// A flow in the network; the capacities that it crosses follow it in memory.
struct FlowRecord {
    double rate_bytes_per_s;  ///< 0 = not rated yet
    /// Of the engine: when the bytes of the flow will have passed; the number of its bytes while it has no rate.
    double finish_s_or_bytes;
    std::int32_t num_capacities;
    std::int32_t member;  ///< of a sharing model, while it computes
    std::int32_t target;  ///< of the engine
    std::int32_t entry;   ///< of the calendar: the bucket of its entry there, its low 32 bits

    [[nodiscard]] std::int32_t* capacities() { return reinterpret_cast<std::int32_t*>(this + 1); }
    [[nodiscard]] const std::int32_t* capacities() const { return reinterpret_cast<const std::int32_t*>(this + 1); }
    [[nodiscard]] std::span<const std::int32_t> path() const {
        return {capacities(), static_cast<std::size_t>(num_capacities)};
    }
};
static_assert(sizeof(FlowRecord) == 32);

/// Flow records of one size, a power of two: one cache line for a flow of up to 8 capacities. The size grows with the
/// longest path.
class FlowTable {
public:
    explicit FlowTable(std::int32_t num_flows = 0) { resize(num_flows, log2_bytes_); }

    [[nodiscard]] std::int32_t size() const { return num_flows_; }
    FlowRecord& operator[](std::int32_t flow) {
        return *reinterpret_cast<FlowRecord*>(memory_.data() + (static_cast<std::size_t>(flow) << log2_bytes_));
    }
    const FlowRecord& operator[](std::int32_t flow) const {
        return *reinterpret_cast<const FlowRecord*>(memory_.data() + (static_cast<std::size_t>(flow) << log2_bytes_));
    }

    /// Makes room for this flow with this number of capacities; moves the records.
    void make_room(std::int32_t flow, std::size_t num_capacities) {
        const std::size_t bytes = sizeof(FlowRecord) + num_capacities * sizeof(std::int32_t);
        if (flow < num_flows_ && bytes <= (std::size_t{1} << log2_bytes_)) return;
        resize(flow < num_flows_ ? num_flows_ : std::max(2 * num_flows_, flow + 1),
               std::max(log2_bytes_, static_cast<unsigned>(std::bit_width(bytes - 1))));
    }
    void set_path(FlowRecord& record, std::span<const std::int32_t> path) {
        record.num_capacities = static_cast<std::int32_t>(path.size());
        std::copy(path.begin(), path.end(), record.capacities());
    }

private:
    void resize(std::int32_t num_flows, unsigned log2_bytes) {
        base::BigArray<std::byte> memory(static_cast<std::size_t>(num_flows) << log2_bytes);
        for (std::int32_t f = 0; f < num_flows_; ++f)
            std::memcpy(memory.data() + (static_cast<std::size_t>(f) << log2_bytes), &(*this)[f],
                        std::size_t{1} << log2_bytes_);
        memory_ = std::move(memory);
        num_flows_ = num_flows;
        log2_bytes_ = log2_bytes;
    }

    base::BigArray<std::byte> memory_;
    std::int32_t num_flows_ = 0;
    unsigned log2_bytes_ = 6;
};

/// The parts of two paths that differ: without the capacities that they have in common at both ends. The next message
/// of a source leaves by the same cable.
inline void trim_common(std::span<const std::int32_t>& before, std::span<const std::int32_t>& after) {
    while (!before.empty() && !after.empty() && before.front() == after.front()) {
        before = before.subspan(1);
        after = after.subspan(1);
    }
    while (!before.empty() && !after.empty() && before.back() == after.back()) {
        before = before.first(before.size() - 1);
        after = after.first(after.size() - 1);
    }
}

}  // namespace hocket::simulation
