// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/blueprint.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

using network::Blueprint;
constexpr double infinity = std::numeric_limits<double>::infinity();

void init_node(Blueprint::Node* self, std::string name, std::string_view kind, std::optional<std::int32_t> ranks,
               double memory_bandwidth_bytes_per_s, double memory_latency_s, bool relays) {
    if (kind != "host" && kind != "switch")
        throw InvalidInput("kind " + base::quoted(kind) + " is not known; accepted: \"host\", \"switch\"");
    const bool is_host = kind == "host";
    new (self) Blueprint::Node{std::move(name),
                               is_host ? NodeKind::host : NodeKind::switch_,
                               ranks.value_or(is_host ? 1 : 0),
                               memory_bandwidth_bytes_per_s,
                               memory_latency_s,
                               relays};
}

void init_cable(Blueprint::Cable* self, std::int32_t first, std::int32_t second, double bandwidth_bytes_per_s,
                std::optional<double> bandwidth_back_bytes_per_s, double latency_s,
                std::optional<double> latency_back_s, bool half_duplex) {
    new (self) Blueprint::Cable{first,
                                second,
                                bandwidth_bytes_per_s,
                                bandwidth_back_bytes_per_s.value_or(bandwidth_bytes_per_s),
                                latency_s,
                                latency_back_s.value_or(latency_s),
                                half_duplex};
}

void init_blueprint(Blueprint* self, std::string name, std::vector<Blueprint::Node> nodes,
                    std::vector<Blueprint::Cable> cables, std::vector<std::int32_t> placement,
                    std::optional<std::int64_t> ecmp_seed, const std::vector<std::vector<std::int32_t>>& routes) {
    Blueprint blueprint{std::move(name), std::move(nodes), std::move(cables), std::move(placement), {}, nullptr};
    if (ecmp_seed && *ecmp_seed < 0)
        throw InvalidInput("ecmp_seed is " + std::to_string(*ecmp_seed) + ", not at least 0");
    blueprint.routing.ecmp_seed = ecmp_seed;
    for (const std::vector<std::int32_t>& route : routes)
        blueprint.routing.routes.emplace_back(route.begin(), route.end());
    network::check(blueprint);
    new (self) Blueprint(std::move(blueprint));
}

Blueprint replaced(Blueprint blueprint, std::optional<std::string> name,
                   std::optional<std::vector<Blueprint::Node>> nodes,
                   std::optional<std::vector<Blueprint::Cable>> cables,
                   std::optional<std::vector<std::int32_t>> placement) {
    if (nodes || cables) blueprint = network::without_generate_table(std::move(blueprint));
    if (name) blueprint.name = std::move(*name);
    if (nodes) blueprint.nodes = std::move(*nodes);
    if (cables) blueprint.cables = std::move(*cables);
    if (placement) blueprint.placement = std::move(*placement);
    network::check(blueprint);
    return blueprint;
}

}  // namespace

void bind_blueprint(nb::module_& module) {
    nb::class_<Blueprint> blueprint(
        module, "Blueprint",
        "What a network file contains. Immutable: to change a network, build a changed blueprint.");

    nb::class_<Blueprint::Node>(blueprint, "Node", "A host or a switch. Immutable.")
        .def("__init__", &init_node, "name"_a, "kind"_a = "host", "ranks"_a = nb::none(),
             "memory_bandwidth_bytes_per_s"_a = infinity, "memory_latency_s"_a = 0.0, "relays"_a = true,
             "`kind`: \"host\" or \"switch\". `ranks`: of a host, 1 unless given; only with several it has a memory.")
        .def_ro("name", &Blueprint::Node::name)
        .def_prop_ro("kind",
                     [](const Blueprint::Node& node) { return node.kind == NodeKind::host ? "host" : "switch"; })
        .def_ro("ranks", &Blueprint::Node::ranks, "Places for ranks; 0 of a switch.")
        .def_ro("memory_bandwidth_bytes_per_s", &Blueprint::Node::memory_bandwidth_bytes_per_s)
        .def_ro("memory_latency_s", &Blueprint::Node::memory_latency_s)
        .def_ro("relays", &Blueprint::Node::relays)
        .def(nb::self == nb::self);

    nb::class_<Blueprint::Cable>(blueprint, "Cable", "Between two nodes of `Blueprint.nodes`. Immutable.")
        .def("__init__", &init_cable, "first"_a, "second"_a, "bandwidth_bytes_per_s"_a,
             "bandwidth_back_bytes_per_s"_a = nb::none(), "latency_s"_a = 0.0, "latency_back_s"_a = nb::none(),
             "half_duplex"_a = false,
             "From the first node to the second, and back; what is not given back is the same.")
        .def_ro("first", &Blueprint::Cable::first)
        .def_ro("second", &Blueprint::Cable::second)
        .def_ro("bandwidth_bytes_per_s", &Blueprint::Cable::bandwidth_bytes_per_s)
        .def_ro("bandwidth_back_bytes_per_s", &Blueprint::Cable::bandwidth_back_bytes_per_s)
        .def_ro("latency_s", &Blueprint::Cable::latency_s)
        .def_ro("latency_back_s", &Blueprint::Cable::latency_back_s)
        .def_ro("half_duplex", &Blueprint::Cable::half_duplex)
        .def(nb::self == nb::self);

    blueprint
        .def(
            "__init__", &init_blueprint, "name"_a, "nodes"_a, "cables"_a, "placement"_a = std::vector<std::int32_t>{},
            "ecmp_seed"_a = nb::none(), "routes"_a = std::vector<std::vector<std::int32_t>>{},
            "`placement`: the host of each rank; empty: host by host. Routes are the shortest paths, with a seed those "
            "of ecmp, but for the `routes` that are listed, each from one host to another.")
        .def_ro("name", &Blueprint::name)
        .def_ro("nodes", &Blueprint::nodes)
        .def_ro("cables", &Blueprint::cables)
        .def_ro("placement", &Blueprint::placement)
        .def("replace", &replaced, nb::kw_only(), "name"_a = nb::none(), "nodes"_a = nb::none(),
             "cables"_a = nb::none(), "placement"_a = nb::none(),
             "The same with other values; with its routes, which must suit other nodes or cables.");
}
