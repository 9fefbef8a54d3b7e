// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <limits>

#include "hocket/simulation/events/rounded_time.hpp"
#include "hocket/simulation/reference/sharing.hpp"

namespace hocket::simulation {
namespace {

/// Sharing::reserve by its words: all that wait are asked at each update, in the order in which they came, whether at
/// every instant of their windows the rates of all windows there are within the bandwidth.
class ReferenceReserve final : public SharingModel {
public:
    explicit ReferenceReserve(std::vector<double> bandwidths)
        : bandwidths_(std::move(bandwidths)), windows_(bandwidths_.size()) {}

    void add(std::int32_t flow, const Passage& passage) override {
        if (static_cast<std::size_t>(flow) >= rates_.size()) rates_.resize(static_cast<std::size_t>(flow) + 1);
        rates_[static_cast<std::size_t>(flow)] = 0;
        double rate = std::numeric_limits<double>::infinity();
        for (const std::int32_t c : passage.capacities) rate = std::min(rate, bandwidths_[static_cast<std::size_t>(c)]);
        waiting_.push_back({flow, rate, passage});
    }
    void remove(std::int32_t flow) override {
        std::erase_if(waiting_, [flow](const Waiting& one) { return one.flow == flow; });
    }
    void update(double now_s, const OnChange& on_change) override {
        for (std::vector<Window>& windows : windows_)
            std::erase_if(windows, [now_s](const Window& window) { return !(window.end_s > now_s); });
        std::erase_if(waiting_, [&](const Waiting& one) {
            if (!fits(one, now_s)) return false;
            for_windows(one, now_s,
                        [&](std::vector<Window>& windows, const Window& window, double) { windows.push_back(window); });
            rates_[static_cast<std::size_t>(one.flow)] = one.rate;
            on_change(one.flow, one.rate);
            return true;
        });
        // A flow fits when some window has ended that was in its way.
        next_event_s_ = std::numeric_limits<double>::infinity();
        for (const Waiting& one : waiting_)
            for_windows(one, now_s, [&](std::vector<Window>& windows, const Window& own, double delay_s) {
                for (const Window& window : windows)
                    if (later(window.end_s, own.start_s))
                        next_event_s_ = std::min(next_event_s_, window.end_s - delay_s);
            });
    }
    [[nodiscard]] double rate(std::int32_t flow) const override { return rates_[static_cast<std::size_t>(flow)]; }
    [[nodiscard]] double next_event_s() const override { return next_event_s_; }

private:
    struct Waiting {
        std::int32_t flow;
        double rate;
        Passage passage;
    };
    struct Window {
        double start_s, end_s, rate;
    };

    static bool later(double a_s, double b_s) { return a_s > end_of_instant(b_s); }

    /// `visit(windows of the capacity, window of the flow there, delay)` as if the flow started now.
    template <class Visit>
    void for_windows(const Waiting& one, double now_s, Visit&& visit) {
        const Passage& passage = one.passage;
        for (std::size_t i = 0; i < passage.capacities.size(); ++i) {
            const double delay_s = passage.delays_s.empty() ? 0 : passage.delays_s[i];
            const double start_s = now_s + delay_s;
            visit(windows_[static_cast<std::size_t>(passage.capacities[i])],
                  Window{start_s, start_s + passage.bytes / one.rate, one.rate}, delay_s);
        }
    }
    [[nodiscard]] bool fits(const Waiting& one, double now_s) {
        bool result = true;
        std::size_t i = 0;
        for_windows(one, now_s, [&](const std::vector<Window>& windows, const Window& own, double) {
            const double bandwidth = bandwidths_[static_cast<std::size_t>(one.passage.capacities[i++])];
            const auto check = [&](double instant_s) {
                double sum = own.rate;
                for (const Window& window : windows)
                    if (!later(window.start_s, instant_s) && later(window.end_s, instant_s)) sum += window.rate;
                result = result && sum <= bandwidth * (1 + 1e-12);
            };
            check(own.start_s);  // what is reserved grows at starts only
            for (const Window& window : windows)
                if (later(window.start_s, own.start_s) && later(own.end_s, window.start_s)) check(window.start_s);
        });
        return result;
    }

    std::vector<double> bandwidths_;
    std::vector<std::vector<Window>> windows_;  // [capacity]
    std::vector<Waiting> waiting_;              // in the order in which they came
    std::vector<double> rates_;                 // [flow]
    double next_event_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::unique_ptr<SharingModel> make_reference_reserve(std::vector<double> bandwidths) {
    return std::make_unique<ReferenceReserve>(std::move(bandwidths));
}

}  // namespace hocket::simulation
