// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "hocket/simulation/sharing/passage.hpp"

namespace hocket::simulation {

/// A sharing model: the rates of the flows that are in the network now.
///
/// A flow is a small index that the engine reuses. What its passage points at stays valid until the flow has been
/// removed.
class SharingModel {
public:
    using OnChange = std::function<void(std::int32_t flow, double rate_bytes_per_s)>;

    virtual ~SharingModel() = default;
    virtual void add(std::int32_t flow, const Passage&) = 0;
    virtual void remove(std::int32_t flow) = 0;
    /// Brings the rates up to date with all that was added and removed, then calls `on_change` for each flow whose rate
    /// may have changed, once.
    virtual void update(double now_s, const OnChange& on_change) = 0;
    /// Bytes per second, valid after update(); 0 = the flow waits for room.
    [[nodiscard]] virtual double rate(std::int32_t flow) const = 0;
    /// When a flow that waits may start though none ends: update() is to be called then.
    [[nodiscard]] virtual double next_event_s() const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace hocket::simulation
