// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <limits>

#include "hocket/simulation/reference/crossings.hpp"
#include "hocket/simulation/reference/sharing.hpp"

namespace hocket::simulation {
namespace {

/// A capacity divides its bandwidth equally among the flows that cross it; a flow runs at its smallest part [Suzuki].
/// What a flow cannot use of a part is lost, so that this is not max-min fair.
class ReferenceEqual final : public SharingModel {
public:
    explicit ReferenceEqual(std::vector<double> bandwidths)
        : bandwidths_(std::move(bandwidths)), crossings_(bandwidths_.size()) {}

    void add(std::int32_t flow, const Passage& passage) override {
        crossings_.add(flow, passage.capacities);
        rates_.resize(crossings_.num_flows());
        is_listed_.resize(crossings_.num_flows());
    }
    void remove(std::int32_t flow) override { crossings_.remove(flow); }

    void update(double, const OnChange& on_change) override {
        changed_.clear();
        for (const std::int32_t capacity : crossings_.touched()) {
            for (const std::int32_t flow : crossings_.flows_on(capacity)) {
                if (is_listed_[static_cast<std::size_t>(flow)]) continue;
                is_listed_[static_cast<std::size_t>(flow)] = true;
                changed_.push_back(flow);
            }
        }
        for (const std::int32_t changed : changed_) {
            double rate = std::numeric_limits<double>::infinity();
            for (const std::int32_t capacity : crossings_.capacities_of(changed))
                rate = std::min(rate, bandwidths_[static_cast<std::size_t>(capacity)] /
                                          static_cast<double>(crossings_.flows_on(capacity).size()));
            rates_[static_cast<std::size_t>(changed)] = rate;
            is_listed_[static_cast<std::size_t>(changed)] = false;
        }
        crossings_.forget_touched();
        for (const std::int32_t flow : changed_) on_change(flow, rate(flow));
    }

    [[nodiscard]] double rate(std::int32_t flow) const override { return rates_[static_cast<std::size_t>(flow)]; }

private:
    std::vector<double> bandwidths_;
    Crossings crossings_;
    std::vector<double> rates_;
    std::vector<bool> is_listed_;        // [flow] within update()
    std::vector<std::int32_t> changed_;  // flows, in update()
};

}  // namespace

std::unique_ptr<SharingModel> make_reference_equal(std::vector<double> bandwidths) {
    return std::make_unique<ReferenceEqual>(std::move(bandwidths));
}

}  // namespace hocket::simulation
