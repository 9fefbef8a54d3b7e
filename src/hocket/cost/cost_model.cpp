// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/cost_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/ranges.hpp"

namespace hocket {
namespace {

constexpr std::array<std::string_view, 4> sharing_names{"none", "equal", "maxmin", "reserve"};

void check(const CostParameters& costs) {
    const auto refuse = [](const std::string& what) { throw InvalidInput("cost model: " + what); };
    if (costs.host_overhead_s && !(*costs.host_overhead_s >= 0)) refuse("overhead within a host is not 0 or more");
    for (const double overhead_s : {costs.send_overhead_s, costs.receive_overhead_s, costs.host_overhead_s.value_or(0)})
        network::check_latency(overhead_s, "cost model: overhead of a message");
    for (const auto& [what, rate] : {std::pair{"reduce", costs.reduce_bytes_per_s}, {"copy", costs.copy_bytes_per_s}})
        if (!(rate > 0)) refuse(std::string(what) + " rate " + std::to_string(rate) + " bytes/s is not above 0");
    if (!(costs.link_efficiency > 0 && costs.link_efficiency <= 1))
        refuse("link efficiency " + std::to_string(costs.link_efficiency) + " is not above 0 and at most 1");
    if (costs.cores < 0) refuse(std::to_string(costs.cores) + " cores are less than none; 0 = one for each rank");
    if (!(costs.burst_bytes >= 0) || !std::isfinite(costs.burst_bytes))
        refuse("burst of " + std::to_string(costs.burst_bytes) + " bytes is not a size");
    network::check_latency(costs.burst_s, "cost model: burst");
    network::check_latency(costs.wake_s, "cost model: waking up");
    if (costs.rendezvous_bytes && *costs.rendezvous_bytes < 0)
        refuse("rendezvous size " + std::to_string(*costs.rendezvous_bytes) + " bytes is negative");
}

}  // namespace

CostModel::CostModel(const CostParameters& parameters) : parameters_(parameters) { check(parameters_); }

CostModel CostModel::usual() {
    return CostParameters{.send_overhead_s = 15e-6,
                          .receive_overhead_s = 15e-6,
                          .reduce_bytes_per_s = 2e9,
                          .rendezvous_bytes = std::nullopt};
}

CostModel CostModel::of(const Network& network) {
    CostParameters costs = *usual();
    if (const network::Calibration* found = network.calibration()) {
        costs.send_overhead_s = found->send_overhead_s.value_or(costs.send_overhead_s);
        costs.receive_overhead_s = found->receive_overhead_s.value_or(costs.receive_overhead_s);
        costs.reduce_bytes_per_s = found->reduce_bytes_per_s.value_or(costs.reduce_bytes_per_s);
        costs.rendezvous_bytes = found->rendezvous_bytes;
        costs.burst_bytes = static_cast<double>(found->burst_bytes);
        costs.burst_s = found->burst_s;
    }
    return costs;
}

Sharing sharing_from(std::string_view name) {
    const auto found = std::find(sharing_names.begin(), sharing_names.end(), name);
    if (found == sharing_names.end())
        throw InvalidInput("sharing " + base::quoted(name) + " is not known; accepted: " + base::list_of(sharing_names),
                           base::did_you_mean(name, sharing_names));
    return static_cast<Sharing>(found - sharing_names.begin());
}

std::string_view name_of(Sharing sharing) { return sharing_names[static_cast<std::size_t>(sharing)]; }

}  // namespace hocket
