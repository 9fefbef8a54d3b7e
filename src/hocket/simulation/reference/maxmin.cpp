// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>

#include "hocket/simulation/reference/crossings.hpp"
#include "hocket/simulation/reference/sharing.hpp"

namespace hocket::simulation {
namespace {

/// Max-min fairness by progressive filling [Bertsekas92, sec. 6.5.2]: all rates grow together; the first capacity to
/// fill up settles the flows that cross it; the others grow on in what is left.
///
/// Rates depend on each other only through chains of shared capacities, so that the filling is confined to the flows
/// that such chains connect with a touched capacity.
class ReferenceMaxMin final : public SharingModel {
public:
    ReferenceMaxMin(std::vector<double> bandwidths, GoesOn goes_on)
        : bandwidths_(std::move(bandwidths)),
          goes_on_(std::move(goes_on)),
          crossings_(bandwidths_.size()),
          left_(bandwidths_.size()) {}

    void add(std::int32_t flow, const Passage& passage) override {
        crossings_.add(flow, passage.capacities);
        rates_.resize(crossings_.num_flows());
        state_.resize(crossings_.num_flows(), State::settled);
    }
    void remove(std::int32_t flow) override { crossings_.remove(flow); }

    void update(double, const OnChange& on_change) override {
        changed_.clear();
        collect_connected(changed_);
        for (std::size_t unsettled = changed_.size(); unsettled > 0;) {
            work_ += open_.size();
            if (work_ > work_between_) {
                work_ = 0;
                if (goes_on_ && !goes_on_()) return;
            }
            unsettled -= settle_fullest();
        }
        for (const std::int32_t capacity : open_) left_[static_cast<std::size_t>(capacity)].flows = 0;
        open_.clear();
        crossings_.forget_touched();
        for (const std::int32_t flow : changed_) on_change(flow, rate(flow));
    }

    [[nodiscard]] double rate(std::int32_t flow) const override { return rates_[static_cast<std::size_t>(flow)]; }

private:
    enum class State : std::uint8_t { settled, growing };
    /// What the settled flows leave of a capacity to the growing ones.
    struct Left {
        double bandwidth_bytes_per_s = 0;
        std::int32_t flows = 0;
    };

    /// Fills `open_` with the capacities, and appends the flows, that touched capacities depend on.
    void collect_connected(std::vector<std::int32_t>& flows) {
        std::size_t next_flow = flows.size();
        for (const std::int32_t capacity : crossings_.touched()) open(capacity);
        for (std::size_t next = 0; next < open_.size(); ++next) {
            for (const std::int32_t flow : crossings_.flows_on(open_[next])) {
                if (state_[static_cast<std::size_t>(flow)] == State::growing) continue;
                state_[static_cast<std::size_t>(flow)] = State::growing;
                flows.push_back(flow);
            }
            for (; next_flow < flows.size(); ++next_flow)
                for (const std::int32_t capacity : crossings_.capacities_of(flows[next_flow])) open(capacity);
        }
    }

    void open(std::int32_t capacity) {
        Left& left = left_[static_cast<std::size_t>(capacity)];
        if (left.flows != 0 || crossings_.flows_on(capacity).empty()) return;
        left = {bandwidths_[static_cast<std::size_t>(capacity)],
                static_cast<std::int32_t>(crossings_.flows_on(capacity).size())};
        open_.push_back(capacity);
    }

    /// Settles the growing flows of the capacity that fills up first; returns their number.
    std::size_t settle_fullest() {
        std::int32_t fullest = -1;
        double share = 0;
        std::size_t kept = 0;
        for (const std::int32_t capacity : open_) {
            const Left& left = left_[static_cast<std::size_t>(capacity)];
            if (left.flows == 0) continue;
            open_[kept++] = capacity;  // drops capacities whose flows are all settled
            const double part = left.bandwidth_bytes_per_s / left.flows;
            if (fullest < 0 || part < share) {
                fullest = capacity;
                share = part;
            }
        }
        open_.resize(kept);
        std::size_t settled = 0;
        for (const std::int32_t flow : crossings_.flows_on(fullest)) {
            if (state_[static_cast<std::size_t>(flow)] == State::settled) continue;
            state_[static_cast<std::size_t>(flow)] = State::settled;
            rates_[static_cast<std::size_t>(flow)] = share;
            ++settled;
            for (const std::int32_t capacity : crossings_.capacities_of(flow)) {
                Left& left = left_[static_cast<std::size_t>(capacity)];
                --left.flows;
                // Rounding may leave a trifle below the true rest, which the last flow must not see as zero.
                left.bandwidth_bytes_per_s = std::max(left.bandwidth_bytes_per_s - share, share * left.flows);
            }
        }
        return settled;
    }

    static constexpr std::size_t work_between_ = std::size_t{1} << 22U;  // milliseconds

    std::vector<double> bandwidths_;
    GoesOn goes_on_;
    std::size_t work_ = 0;
    Crossings crossings_;
    std::vector<double> rates_;
    std::vector<State> state_;
    std::vector<Left> left_;             // [capacity]; flows == 0 outside update()
    std::vector<std::int32_t> open_;     // capacities with growing flows
    std::vector<std::int32_t> changed_;  // flows, in update()
};

}  // namespace

std::unique_ptr<SharingModel> make_reference_maxmin(std::vector<double> bandwidths, GoesOn goes_on) {
    return std::make_unique<ReferenceMaxMin>(std::move(bandwidths), std::move(goes_on));
}

}  // namespace hocket::simulation
