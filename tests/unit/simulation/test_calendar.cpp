// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/simulation/events/calendar.hpp"
#include "hocket/simulation/sharing/shared_links.hpp"

using namespace hocket;
using namespace hocket::simulation;

TEST_CASE("the calendar gives flows in the order of (time, flow), however often their ends change") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const auto num_flows = static_cast<std::int32_t>(1 + random.below(300));
        const double widest = random.below(2) == 0 ? 1 : 1000;  // far ends, of many years, among near ones
        FlowTable flows(num_flows);
        Calendar calendar(flows);
        double now_s = 0;
        const auto draw_end = [&](std::int32_t flow) {
            double take_s = random.below(4) == 0 ? 1 : random.uniform();  // equal ends are the hard case
            if (random.below(10) == 0) take_s *= widest;
            if (random.below(50) == 0) take_s = 0;
            flows[flow].rate_bytes_per_s = 1;
            flows[flow].finish_s_or_bytes = now_s + take_s;
        };
        for (std::int32_t f = 0; f < num_flows; ++f) draw_end(f);
        std::int32_t num_left = num_flows;
        calendar.start(now_s, num_left);
        for (int event = 0; event < 1000 && num_left > 0; ++event) {
            std::pair<double, std::int32_t> first{1e300, -1};
            for (std::int32_t f = 0; f < num_flows; ++f)
                if (flows[f].rate_bytes_per_s > 0) first = std::min(first, {flows[f].finish_s_or_bytes, f});
            now_s = calendar.next_time_s([](const auto&) {});
            const std::int32_t flow = calendar.pop();
            REQUIRE(std::pair(now_s, flow) == first);
            if (random.below(100) == 0) {
                flows[flow].rate_bytes_per_s = 0;
                --num_left;
            } else {
                draw_end(flow);
                calendar.enter(flow, flows[flow]);
            }
            for (auto changes = random.below(4); changes > 0; --changes) {
                const auto other = static_cast<std::int32_t>(random.below(num_flows));
                if (!(flows[other].rate_bytes_per_s > 0)) continue;
                draw_end(other);
                calendar.enter(other, flows[other]);
            }
            calendar.adapt(now_s, num_left);
        }
    }
}

TEST_CASE("a shared link has the flows that came and have not left, with their rates") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        base::Random random(seed);
        const std::int64_t num_flows = 1 + random.below(random.below(2) == 0 ? 8 : 200);
        SharedLinks links(1);
        std::vector<std::int64_t> rates(static_cast<std::size_t>(num_flows), -1);  // -1 = is not there
        for (int step = 0; step < 100; ++step) {
            for (auto changes = random.below(2 * num_flows); changes > 0; --changes) {
                const auto flow = random.below(num_flows);
                std::int64_t& rate = rates[static_cast<std::size_t>(flow)];
                if (rate < 0)
                    links.add(0, static_cast<std::int32_t>(flow));
                else
                    links.remove(0, static_cast<std::int32_t>(flow));
                rate = rate < 0 ? 0 : -1;
            }
            links.close_gaps(0);
            const SharedLinks::View view = links.view(0);
            REQUIRE(view.count == std::count_if(rates.begin(), rates.end(), [](std::int64_t r) { return r >= 0; }));
            for (std::int32_t f = 0; f < num_flows; ++f) {
                std::int64_t& rate = rates[static_cast<std::size_t>(f)];
                if (rate < 0) continue;
                const std::int32_t place = SharedLinks::place_of(view, f);
                REQUIRE(place < view.count);
                CHECK(view.entries[place] == static_cast<Entry>(f));
                CHECK(view.rates[place] == rate);
                view.rates[place] = rate = random.below(1000);
            }
        }
    }
}
