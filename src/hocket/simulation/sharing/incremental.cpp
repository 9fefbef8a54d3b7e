// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/sharing/incremental.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/simulation/sharing/incremental_equal.hpp"
#include "hocket/simulation/sharing/incremental_maxmin.hpp"
#include "hocket/simulation/sharing/incremental_reserve.hpp"
#include "hocket/simulation/sharing/incremental_unshared.hpp"
#include "hocket/simulation/sharing/incremental_windows.hpp"

namespace hocket::simulation {
namespace {

template <IncrementalModel Model>
class Incremental final : public SharingModel {
public:
    explicit Incremental(Bandwidths bandwidths) : model_(std::move(bandwidths), 0) {}

    void add(std::int32_t flow, const Passage& passage) override { model_.add(flow, passage); }
    void remove(std::int32_t flow) override { model_.remove(flow); }
    void update(double now_s, const OnChange& on_change) override {
        changed_.clear();
        model_.update(now_s, [&](std::int32_t flow, const FlowRecord&, double) { changed_.push_back(flow); });
        if (changed_.size() > IncrementalMaxMin::most_at_once) {
            std::sort(changed_.begin(), changed_.end());
            changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
        }
        for (const std::int32_t flow : changed_) on_change(flow, rate(flow));
    }
    [[nodiscard]] double rate(std::int32_t flow) const override { return model_.flows()[flow].rate_bytes_per_s; }
    [[nodiscard]] double next_event_s() const override { return model_.next_event_s(); }

private:
    Model model_;
    std::vector<std::int32_t> changed_;
};

}  // namespace

bool has_incremental(Sharing sharing, const Bandwidths& bandwidths) {
    return sharing != Sharing::maxmin || IncrementalMaxMin::suits(bandwidths);
}

std::unique_ptr<SharingModel> make_incremental(Sharing sharing, Bandwidths bandwidths, bool has_delays) {
    switch (sharing) {
        case Sharing::none:
            return std::make_unique<Incremental<IncrementalUnshared>>(std::move(bandwidths));
        case Sharing::equal:
            return std::make_unique<Incremental<IncrementalEqual>>(std::move(bandwidths));
        case Sharing::maxmin:
            return std::make_unique<Incremental<IncrementalMaxMin>>(std::move(bandwidths));
        case Sharing::reserve:
            if (has_delays) return std::make_unique<Incremental<IncrementalWindows>>(std::move(bandwidths));
            return std::make_unique<Incremental<IncrementalReserve>>(std::move(bandwidths));
    }
    throw InvalidInput("sharing is not one of none, equal, maxmin, reserve");
}

}  // namespace hocket::simulation
