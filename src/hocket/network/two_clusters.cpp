// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/base/error.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/shape.hpp"

namespace hocket::network {

Blueprint two_clusters(std::int32_t first_hosts, std::int32_t second_hosts, const GenerateOptions& options) {
    check(options, true);
    check_size(std::int64_t{first_hosts} + second_hosts + 2, 0, max_nodes, max_cables);
    Blueprint blueprint;
    blueprint.name = "two-clusters:" + std::to_string(first_hosts) + "+" + std::to_string(second_hosts);
    const auto add = [&](std::string name, NodeKind kind) {
        blueprint.nodes.push_back({std::move(name), kind, kind == NodeKind::host ? 1 : 0});
        return static_cast<std::int32_t>(blueprint.nodes.size()) - 1;
    };
    const auto join = [&](std::int32_t first, std::int32_t second, double bandwidth, double latency) {
        blueprint.cables.push_back({first, second, bandwidth, bandwidth, latency, latency});
    };
    for (std::int32_t i = 0; i < first_hosts; ++i) add("a" + std::to_string(i), NodeKind::host);
    for (std::int32_t i = 0; i < second_hosts; ++i) add("b" + std::to_string(i), NodeKind::host);
    const std::int32_t s0 = add("s0", NodeKind::switch_), s1 = add("s1", NodeKind::switch_);
    const double second = options.second_bandwidth_bytes_per_s.value_or(options.bandwidth_bytes_per_s);
    for (std::int32_t i = 0; i < first_hosts; ++i) join(i, s0, options.bandwidth_bytes_per_s, options.latency_s);
    for (std::int32_t i = 0; i < second_hosts; ++i) join(first_hosts + i, s1, second, options.latency_s);
    join(s0, s1, options.trunk_bandwidth_bytes_per_s.value_or(options.bandwidth_bytes_per_s),
         options.trunk_latency_s.value_or(options.latency_s));
    return blueprint;
}

}  // namespace hocket::network
