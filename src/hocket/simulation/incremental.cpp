// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "hocket/simulation/flow.hpp"
#include "hocket/simulation/incremental_equal.hpp"
#include "hocket/simulation/incremental_maxmin.hpp"
#include "hocket/simulation/incremental_reserve.hpp"
#include "hocket/simulation/incremental_windows.hpp"

namespace hocket::simulation {
namespace {

/// An incremental model for an engine that asks for rates by a virtual call.
template <class Model>
class Incremental final : public SharingModel {
public:
    explicit Incremental(Bandwidths bandwidths) : model_(std::move(bandwidths), 0) {}

    void add(std::int32_t flow, const Passage& passage) override {
        if constexpr (plans_windows)
            model_.add(flow, passage);
        else
            model_.add(flow, passage.capacities);
    }
    void remove(std::int32_t flow) override { model_.remove(flow); }
    void update(double now_s, std::vector<std::int32_t>& changed) override {
        const auto first = static_cast<std::ptrdiff_t>(changed.size());
        const auto on_change = [&](std::int32_t flow, const FlowRecord&, double) { changed.push_back(flow); };
        if constexpr (plans_windows)
            model_.update(now_s, on_change);
        else
            model_.update(on_change);
        if (changed.size() - static_cast<std::size_t>(first) <= IncrementalMaxMin::most_at_once) return;
        std::sort(changed.begin() + first, changed.end());
        changed.erase(std::unique(changed.begin() + first, changed.end()), changed.end());
    }
    [[nodiscard]] double rate(std::int32_t flow) const override { return model_.flows()[flow].rate_bytes_per_s; }
    [[nodiscard]] double next_start_s() const override {
        if constexpr (plans_windows) return model_.next_start_s();
        return SharingModel::next_start_s();
    }

private:
    static constexpr bool plans_windows = std::is_same_v<Model, IncrementalWindows>;

    Model model_;
};

}  // namespace

std::unique_ptr<SharingModel> make_equal_sharing(std::vector<double> bandwidths) {
    return std::make_unique<Incremental<IncrementalEqual>>(Bandwidths(bandwidths));
}

std::unique_ptr<SharingModel> make_reserve_sharing(std::vector<double> bandwidths, bool has_delays) {
    if (has_delays) return std::make_unique<Incremental<IncrementalWindows>>(Bandwidths(bandwidths));
    return std::make_unique<Incremental<IncrementalReserve>>(Bandwidths(bandwidths));
}

std::unique_ptr<SharingModel> make_maxmin_sharing(std::vector<double> bandwidths) {
    if (Bandwidths in_units(bandwidths); IncrementalMaxMin::suits(in_units))
        return std::make_unique<Incremental<IncrementalMaxMin>>(std::move(in_units));
    return make_reference_maxmin_sharing(std::move(bandwidths));
}

}  // namespace hocket::simulation
