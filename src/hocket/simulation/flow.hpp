// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/simulation/simulate.hpp"

namespace hocket::simulation {

/// The bandwidth of each shared capacity of the network, by Link::capacity.
std::vector<double> capacities_of(const Network&, double share = 1);
bool has_latencies(const Network&);

/// What crosses capacities, and when. Only Sharing::reserve looks at more than the capacities.
struct Passage {
    std::span<const std::int32_t> capacities;  ///< distinct and finite, at least one
    std::span<const double> delays_s = {};     ///< [of capacities] from the start to the first byte there
    double bytes = 0;
};

/// A sharing model: the rates of the flows that are in the network now.
///
/// A flow is a small index that the engine reuses. What its passage points at stays valid until the flow has been removed.
class SharingModel {
public:
    virtual ~SharingModel() = default;
    virtual void add(std::int32_t flow, const Passage&) = 0;
    virtual void remove(std::int32_t flow) = 0;
    /// Brings the rates up to date with all that was added and removed. Appends each flow whose rate may have changed, once.
    virtual void update(double now_s, std::vector<std::int32_t>& changed) = 0;
    /// Bytes per second, valid after update(); 0 = the flow waits for room.
    [[nodiscard]] virtual double rate(std::int32_t flow) const = 0;
    /// When a flow that waits may start though none ends: update() is to be called then.
    [[nodiscard]] virtual double next_start_s() const { return std::numeric_limits<double>::infinity(); }
};

/// Asked now and then in an update that takes long; where it returns false, the update ends at once, and rates are wrong.
using GoesOn = std::function<bool()>;

std::unique_ptr<SharingModel> make_unshared(std::vector<double> bandwidths);
std::unique_ptr<SharingModel> make_reserve_sharing(std::vector<double> bandwidths, bool has_delays);
/// Compute again only what a flow that comes or goes changes.
std::unique_ptr<SharingModel> make_equal_sharing(std::vector<double> bandwidths);
std::unique_ptr<SharingModel> make_maxmin_sharing(std::vector<double> bandwidths);
/// The plain rules, which the former are compared with.
std::unique_ptr<SharingModel> make_reference_equal_sharing(std::vector<double> bandwidths);
std::unique_ptr<SharingModel> make_reference_maxmin_sharing(std::vector<double> bandwidths, GoesOn = {});
std::unique_ptr<SharingModel> make_reference_reserve_sharing(std::vector<double> bandwidths);
std::unique_ptr<SharingModel> make_sharing(Sharing, std::vector<double> bandwidths, bool reference = false,
                                           bool has_delays = false, GoesOn = {});

/// Which flows cross which capacity, and which capacities were touched since the last update: what the reference
/// models have in common.
class Crossings {
public:
    explicit Crossings(std::size_t num_capacities) : flows_on_(num_capacities), is_touched_(num_capacities, false) {}

    void add(std::int32_t flow, std::span<const std::int32_t> capacities);
    void remove(std::int32_t flow);

    [[nodiscard]] const std::vector<std::int32_t>& flows_on(std::int32_t capacity) const {
        return flows_on_[static_cast<std::size_t>(capacity)];
    }
    [[nodiscard]] std::span<const std::int32_t> capacities_of(std::int32_t flow) const {
        return capacities_[static_cast<std::size_t>(flow)];
    }
    /// One more than the largest flow so far.
    [[nodiscard]] std::size_t num_flows() const { return capacities_.size(); }

    /// Capacities whose flows changed since they were last forgotten, each once.
    [[nodiscard]] const std::vector<std::int32_t>& touched() const { return touched_; }
    void forget_touched();

private:
    void touch(std::int32_t capacity);

    std::vector<std::vector<std::int32_t>> flows_on_;        // [capacity]
    std::vector<std::span<const std::int32_t>> capacities_;  // [flow]
    std::vector<std::int32_t> touched_;
    std::vector<bool> is_touched_;
};

}  // namespace hocket::simulation
