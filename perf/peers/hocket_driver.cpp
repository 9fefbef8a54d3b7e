// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket on a case. Options: sharing=maxmin|equal|none; reference=1, threads=N: TrafficOptions; huge_pages=off takes
// them away; goal=FILE only writes the traffic as GOAL text.

#include <sys/prctl.h>

#include "driver.hpp"
#include "hocket/lowering/traffic.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/program/goal.hpp"
#include "hocket/simulation/traffic.hpp"

int main(int argc, char** argv) {
    return peers::run_driver([&] {
        peers::Case c = peers::read_case(argc, argv);
        hocket::TrafficOptions options;
        options.sharing = hocket::sharing_from(c.option("sharing", "maxmin"));
        options.reference = c.option("reference", "0") == "1";
        options.num_threads = static_cast<std::int32_t>(peers::number(c, "threads", "1"));
        if (c.option("huge_pages", "on") == "off") prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
        const std::string goal = c.option("goal", "");
        c.refuse_others();
        if (!goal.empty()) {
            if (!(std::ofstream(goal) << hocket::to_goal(hocket::program_of(*c.traffic))))
                throw std::runtime_error("cannot write " + goal);
            return;
        }
        hocket::network::GenerateOptions cables;
        cables.bandwidth_bytes_per_s = c.bandwidth_bytes_per_s;
        cables.latency_s = c.latency_s;
        const auto fabric = hocket::network::make_fabric("fat-tree:" + c.shape(), cables);
        peers::Outcome outcome;
        outcome.setup_done();
        hocket::TrafficResult result = hocket::simulate_traffic(*c.traffic, *fabric, options);
        outcome.num_messages = result.num_messages;
        outcome.num_rates = result.num_rates;
        outcome.finish_s = std::move(result.finish_s);
        peers::print(c, outcome);
    });
}
