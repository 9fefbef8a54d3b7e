// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/generate.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::network {
namespace {

using namespace std::string_literals;

constexpr std::array<std::string_view, 4> kinds{"star", "two-clusters", "tree", "fat-tree"};
constexpr std::size_t max_levels = 8;

/// "8x8x16" with separator 'x' -> 8, 8, 16.
std::vector<std::int32_t> parse_shape(std::string_view shape, char separator, const std::string& expected) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput("shape " + base::quoted(shape) + ": " + why, "write " + expected);
    };
    std::vector<std::int32_t> widths;
    const char* c = shape.data();
    const char* const end = c + shape.size();
    while (true) {
        std::int32_t width = 0;
        const auto [next, error] = std::from_chars(c, end, width);
        if (error != std::errc{}) refuse("a number up to " + std::to_string(max_nodes) + " is missing");
        if (width < 1 || width > max_nodes)
            refuse(std::to_string(width) + " is not in 1.." + std::to_string(max_nodes));
        widths.push_back(width);
        if (next == end) return widths;
        if (*next != separator) refuse("unexpected " + base::quoted(std::string_view(next, 1)));
        if (widths.size() == max_levels) refuse("more than " + std::to_string(max_levels) + " levels");
        c = next + 1;
    }
}

void check(const GenerateOptions& options, bool has_trunk) {
    const auto check_bandwidth = [](double bandwidth, const char* key) {
        if (!(bandwidth > 0)) throw InvalidInput(key + ": "s + std::to_string(bandwidth) + " is not above 0 bytes/s");
    };
    const auto check_latency = [](double latency, const char* key) {
        if (!(latency >= 0) || !std::isfinite(latency))
            throw InvalidInput(key + ": "s + std::to_string(latency) + " is not finite and at least 0 s");
    };
    check_bandwidth(options.bandwidth_bytes_per_s, "bandwidth");
    check_latency(options.latency_s, "latency");
    if (options.second_bandwidth_bytes_per_s)
        check_bandwidth(*options.second_bandwidth_bytes_per_s, "second_bandwidth");
    if (options.trunk_bandwidth_bytes_per_s) check_bandwidth(*options.trunk_bandwidth_bytes_per_s, "trunk_bandwidth");
    if (options.trunk_latency_s) check_latency(*options.trunk_latency_s, "trunk_latency");
    if (!has_trunk &&
        (options.second_bandwidth_bytes_per_s || options.trunk_bandwidth_bytes_per_s || options.trunk_latency_s))
        throw InvalidInput("second_bandwidth, trunk_bandwidth and trunk_latency belong to \"two-clusters\" alone",
                           "use bandwidth and latency");
}

void check_size(std::int64_t nodes) {
    if (nodes > max_nodes)
        throw InvalidInput("the network would have more than " + std::to_string(max_nodes) + " nodes",
                           "make it smaller");
}

std::int32_t add(Blueprint& blueprint, std::string name, NodeKind kind) {
    blueprint.nodes.push_back({std::move(name), kind, kind == NodeKind::host ? 1 : 0});
    return static_cast<std::int32_t>(blueprint.nodes.size()) - 1;
}

void join(Blueprint& blueprint, std::int32_t first, std::int32_t second, double bandwidth, double latency) {
    blueprint.cables.push_back({first, second, bandwidth, bandwidth, latency, latency});
}

}  // namespace

Blueprint star(std::int32_t hosts, const GenerateOptions& options) {
    Blueprint blueprint = tree({hosts}, options);
    blueprint.name = "star:" + std::to_string(hosts);
    return blueprint;
}

Blueprint two_clusters(std::int32_t first_hosts, std::int32_t second_hosts, const GenerateOptions& options) {
    check(options, true);
    check_size(std::int64_t{first_hosts} + second_hosts + 2);
    Blueprint blueprint;
    blueprint.name = "two-clusters:" + std::to_string(first_hosts) + "+" + std::to_string(second_hosts);
    for (std::int32_t i = 0; i < first_hosts; ++i) add(blueprint, "a" + std::to_string(i), NodeKind::host);
    for (std::int32_t i = 0; i < second_hosts; ++i) add(blueprint, "b" + std::to_string(i), NodeKind::host);
    const std::int32_t s0 = add(blueprint, "s0", NodeKind::switch_);
    const std::int32_t s1 = add(blueprint, "s1", NodeKind::switch_);
    const double second = options.second_bandwidth_bytes_per_s.value_or(options.bandwidth_bytes_per_s);
    for (std::int32_t i = 0; i < first_hosts; ++i)
        join(blueprint, i, s0, options.bandwidth_bytes_per_s, options.latency_s);
    for (std::int32_t i = 0; i < second_hosts; ++i) join(blueprint, first_hosts + i, s1, second, options.latency_s);
    join(blueprint, s0, s1, options.trunk_bandwidth_bytes_per_s.value_or(options.bandwidth_bytes_per_s),
         options.trunk_latency_s.value_or(options.latency_s));
    return blueprint;
}

Blueprint tree(const std::vector<std::int32_t>& widths, const GenerateOptions& options) {
    check(options, false);
    std::int64_t hosts = 1, nodes = 1;
    for (const std::int32_t width : widths) {
        hosts *= width;
        nodes += hosts;
        check_size(nodes);
    }
    Blueprint blueprint;
    blueprint.name = "tree:";
    for (const std::int32_t width : widths)
        blueprint.name += (blueprint.name.back() == ':' ? "" : "x") + std::to_string(width);
    for (std::int64_t i = 0; i < hosts; ++i) add(blueprint, "h" + std::to_string(i), NodeKind::host);
    std::vector<std::int32_t> parents{add(blueprint, "s0", NodeKind::switch_)};
    std::int32_t num_switches = 1, num_hosts = 0;
    for (std::size_t level = 0; level < widths.size(); ++level) {
        std::vector<std::int32_t> children;
        for (const std::int32_t parent : parents) {
            for (std::int32_t i = 0; i < widths[level]; ++i) {
                children.push_back(level + 1 == widths.size()
                                       ? num_hosts++
                                       : add(blueprint, "s" + std::to_string(num_switches++), NodeKind::switch_));
                join(blueprint, children.back(), parent, options.bandwidth_bytes_per_s, options.latency_s);
            }
        }
        parents = std::move(children);
    }
    return blueprint;
}

Blueprint generate(std::string_view kind_and_shape, const GenerateOptions& options) {
    const std::size_t colon = kind_and_shape.find(':');
    const std::string_view kind = kind_and_shape.substr(0, colon);
    const std::string_view shape = colon == std::string_view::npos ? "" : kind_and_shape.substr(colon + 1);
    if (kind == "star") {
        const auto widths = parse_shape(shape, 'x', "the number of hosts, such as star:16");
        if (widths.size() != 1)
            throw InvalidInput("shape " + base::quoted(shape) + ": a star has one number",
                               "write star:16, or a tree:4x4");
        return star(widths[0], options);
    }
    if (kind == "two-clusters") {
        const std::string expected = "the hosts of both groups, such as two-clusters:4+4";
        const auto widths = parse_shape(shape, '+', expected);
        if (widths.size() != 2)
            throw InvalidInput("shape " + base::quoted(shape) + ": two-clusters has two numbers", "write " + expected);
        return two_clusters(widths[0], widths[1], options);
    }
    if (kind == "tree") return tree(parse_shape(shape, 'x', "the children of each level, such as tree:4x4"), options);
    if (kind == "fat-tree") {
        check(options, false);
        return fat_tree(parse_shape(shape, 'x', "the children of each level, such as fat-tree:8x8x16"), options);
    }
    const std::string suggestion = base::did_you_mean(kind, kinds);
    throw InvalidInput("unknown kind of network " + base::quoted(kind) + "; accepted: " + base::list_of(kinds),
                       suggestion.empty() ? "write KIND:SHAPE, such as star:16" : suggestion);
}

}  // namespace hocket::network
