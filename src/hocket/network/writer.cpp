// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <cmath>
#include <functional>

#include "hocket/base/json_text.hpp"
#include "hocket/base/units.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

/// A TOML basic string.
std::string string(std::string_view text) {
    constexpr std::string_view hexadecimal = "0123456789ABCDEF";
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7F) {
            result += "\\u00";
            result += hexadecimal[code >> 4U];
            result += hexadecimal[code & 15U];
        } else {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
    }
    return result + "\"";
}

std::string line(std::string_view key, std::string_view value) {
    return std::string(key) + " = " + std::string(value) + "\n";
}
std::string bandwidth_line(std::string_view key, double value) {
    return line(key, string(base::print_bandwidth(value)));
}
std::string latency_line(std::string_view key, double value) { return line(key, string(base::print_duration(value))); }

std::string node_table(const Blueprint::Node& node) {
    std::string text = "\n[[node]]\n" + line("name", string(node.name));
    if (node.kind == NodeKind::switch_) return text + line("kind", string("switch"));
    text += line("kind", string("host"));
    if (node.ranks != 1) text += line("ranks", std::to_string(node.ranks));
    if (std::isfinite(node.memory_bandwidth_bytes_per_s))
        text += bandwidth_line("memory_bandwidth", node.memory_bandwidth_bytes_per_s);
    if (node.memory_latency_s > 0) text += latency_line("memory_latency", node.memory_latency_s);
    if (!node.relays) text += line("relay", "false");
    return text;
}

std::string link_table(const Blueprint& blueprint, const Blueprint::Cable& cable) {
    constexpr std::not_equal_to<> differ;  // exact on purpose: the file has what the network has
    const auto name = [&](std::int32_t node) { return string(blueprint.nodes[static_cast<std::size_t>(node)].name); };
    std::string text = "\n[[link]]\n" +
                       line("between", std::string("[") + name(cable.first) + ", " + name(cable.second) + "]") +
                       bandwidth_line("bandwidth", cable.bandwidth_bytes_per_s);
    if (differ(cable.bandwidth_back_bytes_per_s, cable.bandwidth_bytes_per_s))
        text += bandwidth_line("bandwidth_back", cable.bandwidth_back_bytes_per_s);
    if (cable.latency_s > 0) text += latency_line("latency", cable.latency_s);
    if (differ(cable.latency_back_s, cable.latency_s)) text += latency_line("latency_back", cable.latency_back_s);
    if (cable.half_duplex) text += line("duplex", string("half"));
    return text;
}

std::string placement_line(const Blueprint& blueprint) {
    if (blueprint.placement.empty()) return {};
    if (blueprint.placement == cyclic_placement(blueprint)) return line("placement", string("cyclic"));
    std::string names;
    for (const std::int32_t node : blueprint.placement)
        names += (names.empty() ? "" : ", ") + string(blueprint.nodes[static_cast<std::size_t>(node)].name);
    return line("placement", std::string("[") + names + "]");
}

std::string routing_table(const Blueprint& blueprint) {
    const Routing& routing = blueprint.routing;
    if (!routing.ecmp_seed && routing.routes.empty()) return {};
    std::string text = "\n[routing]\n";
    if (routing.ecmp_seed) text += line("kind", string("ecmp")) + line("seed", std::to_string(*routing.ecmp_seed));
    if (routing.routes.empty()) return text;
    text += "routes = [\n";
    for (const std::vector<NodeId>& route : routing.routes) {
        std::string names;
        for (const NodeId node : route) names += (names.empty() ? "" : ", ") + string(blueprint.nodes[node.at()].name);
        text += "    [" + names + "],\n";
    }
    return text + "]\n";
}

std::string between_line(const Network& network, std::int32_t cable) {
    const Link& link = network.links()[2 * static_cast<std::size_t>(cable)];
    return line("between",
                "[" + string(network.node(link.source).name) + ", " + string(network.node(link.target).name) + "]");
}

std::string circuits_table(const Network& network, const Circuits& circuits) {
    const auto name = [&](std::int32_t node) { return string(network.node(NodeId{node}).name); };
    const auto choice = [](std::string_view key, auto value, std::span<const std::string_view> names) {
        return line(key, string(names[static_cast<std::size_t>(value)]));
    };
    std::string switches;
    for (const std::int32_t node : circuits.switches) switches += (switches.empty() ? "" : ", ") + name(node);
    std::string text = "\n[circuits]\n" + latency_line("setup", circuits.times.setup_s) +
                       latency_line("teardown", circuits.times.teardown_s) +
                       line("ports", std::to_string(circuits.ports)) + line("switches", "[" + switches + "]") +
                       choice("accounting", circuits.times.accounting, circuits::accounting_names) +
                       choice("injection", circuits.injection, circuits::injection_names) +
                       choice("stop", circuits.stop, circuits::stop_names) +
                       choice("controller", circuits.controller, circuits::controller_names) +
                       choice("blocked", circuits.blocked, blocked_names);
    if (circuits.wavelengths) text += line("wavelengths", std::to_string(*circuits.wavelengths));
    if (circuits.max_circuits) text += line("max_circuits", std::to_string(*circuits.max_circuits));
    for (const auto& [node, ports] : circuits.node_ports)
        text += "\n[[circuits.node]]\n" + line("name", name(node)) + line("ports", std::to_string(ports));
    for (const auto& [cable, wavelengths] : circuits.cable_wavelengths)
        text +=
            "\n[[circuits.link]]\n" + between_line(network, cable) + line("wavelengths", std::to_string(wavelengths));
    for (const Circuits::Change& change : circuits.changes)
        text += "\n[[circuits.change]]\n" + latency_line("at", change.at_s) +
                (change.is_cable ? between_line(network, change.which) : line("node", name(change.which))) +
                line(change.is_cable ? "wavelengths" : "ports", std::to_string(change.number));
    return text;
}

/// What follows nodes and links.
std::string last_tables(const Network& network) {
    std::string text;
    if (network.circuits() != nullptr) text += circuits_table(network, *network.circuits());
    if (network.calibration() == nullptr) return text;
    if (!network.calibration()->toml.empty()) text += "\n" + network.calibration()->toml;
    for (const NativeTimes& times : network.calibration()->natives)
        text += "\n[[calibration.native]]\n" + line("mpi", string(times.mpi)) +
                line("collective", string(times.collective)) + line("up_to_bytes", std::to_string(times.bytes_max)) +
                line("algorithm", string(times.algorithm)) +
                (times.segment_bytes ? line("segment_bytes", std::to_string(*times.segment_bytes)) : "") +
                line("factor", base::number_text(times.factor)) +
                line("schedule_factor", base::number_text(times.schedule_factor));
    return text;
}

}  // namespace

std::string to_toml(const Network& network) {
    const Blueprint blueprint = blueprint_of(network);
    std::string text =
        line("format", string("hocket.network/1")) + line("name", string(blueprint.name)) + placement_line(blueprint);
    if (!blueprint.routing.generate_table.empty())
        return text + "\n" + blueprint.routing.generate_table + last_tables(network);
    text += routing_table(blueprint);
    for (const Blueprint::Node& node : blueprint.nodes) text += node_table(node);
    for (const Blueprint::Cable& cable : blueprint.cables) text += link_table(blueprint, cable);
    return text + last_tables(network);
}

}  // namespace hocket::network
