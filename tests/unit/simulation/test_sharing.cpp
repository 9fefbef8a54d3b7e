// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hocket/base/random.hpp"
#include "hocket/simulation/make_sharing.hpp"
#include "reference.hpp"

using namespace hocket;
using namespace hocket::simulation;

namespace {

using Flows = std::map<std::int32_t, std::vector<std::int32_t>>;  // [flow] its capacities

std::vector<std::int32_t> random_capacities(base::Random& random, std::int32_t num_capacities) {
    std::vector<std::int32_t> capacities;
    for (auto n = 1 + random.below(4); n > 0; --n)
        capacities.push_back(static_cast<std::int32_t>(random.below(num_capacities)));
    std::sort(capacities.begin(), capacities.end());
    capacities.erase(std::unique(capacities.begin(), capacities.end()), capacities.end());
    return capacities;
}

/// A flow is at its max-min rate exactly if it crosses a full capacity on which no other flow is faster
/// [Bertsekas92, sec. 6.5.2].
void check_certificate(const SharingModel& model, const Flows& flows, const std::vector<double>& bandwidths) {
    std::vector<double> load(bandwidths.size(), 0), fastest(bandwidths.size(), 0);
    for (const auto& [flow, capacities] : flows)
        for (const std::int32_t c : capacities) {
            load[static_cast<std::size_t>(c)] += model.rate(flow);
            fastest[static_cast<std::size_t>(c)] = std::max(fastest[static_cast<std::size_t>(c)], model.rate(flow));
        }
    for (std::size_t c = 0; c < bandwidths.size(); ++c) CHECK(load[c] <= bandwidths[c] * (1 + 1e-9));
    for (const auto& [flow, capacities] : flows) {
        const double rate = model.rate(flow);
        CHECK(std::any_of(capacities.begin(), capacities.end(), [&](std::int32_t capacity) {
            const auto c = static_cast<std::size_t>(capacity);
            return load[c] >= bandwidths[c] * (1 - 1e-9) && rate >= fastest[c] * (1 - 1e-9);
        }));
    }
}

}  // namespace

TEST_CASE("rates follow their definition through any sequence of arrivals and departures") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const auto num_capacities = static_cast<std::int32_t>(1 + random.below(12));
        std::vector<double> bandwidths;
        for (std::int32_t c = 0; c < num_capacities; ++c)  // equal ones too, since ties are the hard case
            bandwidths.push_back(random.below(2) == 0 ? 100 : 10 + random.uniform() * 1000);
        for (const auto& [sharing, reference] :
             {std::pair(Sharing::none, false), std::pair(Sharing::equal, false), std::pair(Sharing::equal, true),
              std::pair(Sharing::maxmin, false), std::pair(Sharing::maxmin, true)}) {
            const auto model = make_sharing(sharing, bandwidths, reference);
            Flows flows;
            for (int step = 0; step < 60; ++step) {
                std::set<std::int32_t> touched;  // a flow comes or goes once between updates
                for (auto changes = 1 + random.below(3); changes > 0; --changes) {
                    const auto flow = static_cast<std::int32_t>(random.below(20));
                    if (!touched.insert(flow).second) continue;
                    if (const auto found = flows.find(flow); found != flows.end()) {
                        model->remove(flow);
                        flows.erase(found);
                    } else {
                        model->add(flow, {flows[flow] = random_capacities(random, num_capacities)});
                    }
                }
                std::vector<std::int32_t> changed;
                model->update(0, [&](std::int32_t flow, double rate) {
                    changed.push_back(flow);
                    CHECK(rate == model->rate(flow));
                });
                std::vector<std::vector<int>> capacities;
                for (const auto& [flow, crossed] : flows) capacities.emplace_back(crossed.begin(), crossed.end());
                const std::vector<double> expected = reference::rates(capacities, bandwidths, sharing);
                std::size_t i = 0;
                for (const auto& [flow, crossed] : flows)
                    CHECK(model->rate(flow) == doctest::Approx(expected[i++]).epsilon(1e-9));
                if (sharing == Sharing::maxmin) check_certificate(*model, flows, bandwidths);
                std::sort(changed.begin(), changed.end());
                CHECK(std::adjacent_find(changed.begin(), changed.end()) == changed.end());
            }
        }
    }
}

TEST_CASE("incremental rates are those of the reference, among many flows on many capacities") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const auto num_capacities =
            static_cast<std::int32_t>((seed == 12 ? 3 : 20) + random.below(seed == 12 ? 2 : 200));
        const std::int64_t num_flows =
            seed == 12 ? 600 : 50 + random.below(600);  // from a few to hundreds on a capacity
        const std::int64_t most_changes = random.below(2) == 0 ? 2 : num_flows;
        const double widest = random.below(2) == 0 ? 10 : 1e5;
        std::vector<double> bandwidths;
        for (std::int32_t c = 0; c < num_capacities; ++c)
            bandwidths.push_back(random.below(2) == 0 ? 100 : 100 * (1 + random.uniform() * widest));
        if (random.below(3) == 0) std::fill(bandwidths.begin(), bandwidths.end(), 100.0);
        for (const Sharing sharing : {Sharing::equal, Sharing::maxmin}) {
            const auto model = make_sharing(sharing, bandwidths), plain = make_sharing(sharing, bandwidths, true);
            Flows flows;
            double worst = 0;
            for (int step = 0; step < 200; ++step) {
                for (auto changes = 1 + random.below(most_changes); changes > 0; --changes) {
                    const auto flow = static_cast<std::int32_t>(random.below(num_flows));
                    if (const auto found = flows.find(flow); found != flows.end()) {
                        model->remove(flow);
                        plain->remove(flow);
                        flows.erase(found);
                        if (random.below(4) == 0) continue;  // else another takes its number at once
                    }
                    flows[flow] = random_capacities(random, num_capacities);
                    model->add(flow, {flows[flow]});
                    plain->add(flow, {flows[flow]});
                }
                std::vector<std::int32_t> changed;
                model->update(0, [&](std::int32_t flow, double rate) {
                    changed.push_back(flow);
                    CHECK(rate == model->rate(flow));
                });
                plain->update(0, [](std::int32_t, double) {});
                for (const auto& [flow, crossed] : flows)
                    worst = std::max(worst, std::abs(model->rate(flow) / plain->rate(flow) - 1));
                if (sharing == Sharing::maxmin && step % 20 == 0) check_certificate(*model, flows, bandwidths);
                std::sort(changed.begin(), changed.end());
                CHECK(std::adjacent_find(changed.begin(), changed.end()) == changed.end());
            }
            CHECK(worst < 1e-9);
        }
    }
}

TEST_CASE("reserved bandwidth: nothing is exceeded, and what waits could not have started") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const auto num_capacities = static_cast<std::int32_t>(1 + random.below(12));
        std::vector<double> bandwidths;
        for (std::int32_t c = 0; c < num_capacities; ++c)  // some fit together exactly
            bandwidths.push_back(random.below(2) == 0 ? 100.0 * static_cast<double>(1 + random.below(4))
                                                      : 10 + random.uniform() * 1000);
        const auto model = make_sharing(Sharing::reserve, bandwidths);
        struct Flow {
            std::int32_t number;
            std::vector<std::int32_t> capacities;
            double least, rate = 0;
        };
        std::vector<Flow> flows;  // in the order in which they came
        std::vector<double> used(bandwidths.size(), 0);
        std::int32_t num_waits = 0;
        for (int step = 0; step < 200; ++step) {
            for (auto changes = 1 + random.below(4); changes > 0; --changes) {
                const auto number = static_cast<std::int32_t>(random.below(20));
                const auto found =
                    std::find_if(flows.begin(), flows.end(), [&](const Flow& f) { return f.number == number; });
                if (found != flows.end()) {
                    model->remove(number);
                    for (const std::int32_t c : found->capacities) used[static_cast<std::size_t>(c)] -= found->rate;
                    flows.erase(found);
                    continue;
                }
                Flow flow{number, random_capacities(random, num_capacities), 1e300};
                for (const std::int32_t c : flow.capacities)
                    flow.least = std::min(flow.least, bandwidths[static_cast<std::size_t>(c)]);
                flows.push_back(flow);
                model->add(number, {flows.back().capacities});
            }
            std::vector<std::int32_t> changed;
            model->update(0, [&](std::int32_t flow, double rate) {
                changed.push_back(flow);
                CHECK(rate == model->rate(flow));
            });
            // Each in turn takes what it needs, if it is there.
            for (Flow& flow : flows) {
                const bool fits = std::all_of(flow.capacities.begin(), flow.capacities.end(), [&](std::int32_t c) {
                    const auto at = static_cast<std::size_t>(c);
                    return used[at] + flow.least <= bandwidths[at] * (1 + 1e-9);
                });
                if (flow.rate > 0 || !fits) continue;
                flow.rate = flow.least;
                for (const std::int32_t c : flow.capacities) used[static_cast<std::size_t>(c)] += flow.rate;
                CHECK(std::count(changed.begin(), changed.end(), flow.number) == 1);
            }
            for (std::size_t c = 0; c < used.size(); ++c) CHECK(used[c] <= bandwidths[c] * (1 + 1e-9));
            for (const Flow& flow : flows) {
                CHECK(model->rate(flow.number) == flow.rate);
                num_waits += flow.rate > 0 ? 0 : 1;
            }
        }
        CHECK(num_waits > 0);
    }
}
