// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <limits>

#include "hocket/simulation/flow.hpp"

namespace hocket::simulation {
namespace {

/// Each flow has the least bandwidth of its route to itself.
class Unshared final : public SharingModel {
public:
    explicit Unshared(std::vector<double> bandwidths) : bandwidths_(std::move(bandwidths)) {}

    void add(std::int32_t flow, const Passage& passage) override {
        if (static_cast<std::size_t>(flow) >= rates_.size()) rates_.resize(static_cast<std::size_t>(flow) + 1);
        double rate = std::numeric_limits<double>::infinity();
        for (const std::int32_t capacity : passage.capacities)
            rate = std::min(rate, bandwidths_[static_cast<std::size_t>(capacity)]);
        rates_[static_cast<std::size_t>(flow)] = rate;
        added_.push_back(flow);
    }
    void remove(std::int32_t) override {}
    void update(double, std::vector<std::int32_t>& changed) override {
        changed.insert(changed.end(), added_.begin(), added_.end());
        added_.clear();
    }
    [[nodiscard]] double rate(std::int32_t flow) const override { return rates_[static_cast<std::size_t>(flow)]; }

private:
    std::vector<double> bandwidths_;
    std::vector<double> rates_;
    std::vector<std::int32_t> added_;
};

}  // namespace

std::unique_ptr<SharingModel> make_unshared(std::vector<double> bandwidths) {
    return std::make_unique<Unshared>(std::move(bandwidths));
}

}  // namespace hocket::simulation
