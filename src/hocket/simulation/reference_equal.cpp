// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <limits>

#include "hocket/simulation/flow.hpp"

namespace hocket::simulation {
namespace {

/// A capacity divides its bandwidth equally among the flows that cross it; a flow runs at its smallest part [Suzuki]. What
/// a flow cannot use of a part is lost, so that this is not max-min fair.
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

    void update(double, std::vector<std::int32_t>& changed) override {
        const std::size_t first = changed.size();
        for (const std::int32_t capacity : crossings_.touched()) {
            for (const std::int32_t flow : crossings_.flows_on(capacity)) {
                if (is_listed_[static_cast<std::size_t>(flow)]) continue;
                is_listed_[static_cast<std::size_t>(flow)] = true;
                changed.push_back(flow);
            }
        }
        for (std::size_t i = first; i < changed.size(); ++i) {
            double rate = std::numeric_limits<double>::infinity();
            for (const std::int32_t capacity : crossings_.capacities_of(changed[i]))
                rate = std::min(rate, bandwidths_[static_cast<std::size_t>(capacity)] /
                                          static_cast<double>(crossings_.flows_on(capacity).size()));
            rates_[static_cast<std::size_t>(changed[i])] = rate;
            is_listed_[static_cast<std::size_t>(changed[i])] = false;
        }
        crossings_.forget_touched();
    }

    [[nodiscard]] double rate(std::int32_t flow) const override { return rates_[static_cast<std::size_t>(flow)]; }

private:
    std::vector<double> bandwidths_;
    Crossings crossings_;
    std::vector<double> rates_;
    std::vector<bool> is_listed_;  // [flow] within update()
};

}  // namespace

std::unique_ptr<SharingModel> make_reference_equal_sharing(std::vector<double> bandwidths) {
    return std::make_unique<ReferenceEqual>(std::move(bandwidths));
}

}  // namespace hocket::simulation
