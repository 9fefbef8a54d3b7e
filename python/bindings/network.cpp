// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/network.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/base/units.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/circuits.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/placement.hpp"
#include "quantities.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

using bindings::bandwidth_of, bindings::duration_of, bindings::Quantity;

Network generate(std::string_view kind_and_shape, const Quantity& bandwidth, const Quantity& latency,
                 const Quantity& second_bandwidth, const Quantity& trunk_bandwidth, const Quantity& trunk_latency,
                 const std::optional<std::string>& routing, std::optional<std::int64_t> seed) {
    network::GenerateOptions options;
    if (const auto value = bandwidth_of(bandwidth, "bandwidth")) options.bandwidth_bytes_per_s = *value;
    if (const auto value = duration_of(latency, "latency")) options.latency_s = *value;
    options.second_bandwidth_bytes_per_s = bandwidth_of(second_bandwidth, "second_bandwidth");
    options.trunk_bandwidth_bytes_per_s = bandwidth_of(trunk_bandwidth, "trunk_bandwidth");
    options.trunk_latency_s = duration_of(trunk_latency, "trunk_latency");
    options.routing = routing.value_or("");
    options.seed = seed;
    return network::generate_network(kind_and_shape, options);
}

Rank checked(const Network& network, std::int32_t rank) {
    if (rank < 0 || rank >= network.num_ranks())
        throw InvalidInput("rank is " + std::to_string(rank) + ": expected 0 to " +
                           std::to_string(network.num_ranks() - 1));
    return Rank{rank};
}

template <class Indices>
std::vector<std::int32_t> values_of(const Indices& indices) {
    std::vector<std::int32_t> values;
    values.reserve(indices.size());
    for (const auto index : indices) values.push_back(index.value);
    return values;
}

std::string_view name_of(NodeKind kind) {
    return kind == NodeKind::host ? "host" : kind == NodeKind::switch_ ? "switch" : "process";
}

std::vector<std::int32_t> rank_hosts(const Network& network) {
    std::vector<std::int32_t> hosts;
    for (std::int32_t r = 0; r < network.num_ranks(); ++r) hosts.push_back(network.host_of(Rank{r}).value);
    return hosts;
}

nb::dict by_number(const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
    nb::dict found;
    for (const auto& [which, number] : pairs) found[nb::int_(which)] = number;
    return found;
}

std::optional<nb::dict> circuits_of(const Network& network) {
    const network::Circuits* circuits = network.circuits();
    if (circuits == nullptr) return std::nullopt;
    const auto name = [](const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; };
    nb::dict one;
    one["setup_s"] = circuits->times.setup_s;
    one["teardown_s"] = circuits->times.teardown_s;
    one["accounting"] = name(circuits::accounting_names, circuits->times.accounting);
    one["injection"] = name(circuits::injection_names, circuits->injection);
    one["stop"] = name(circuits::stop_names, circuits->stop);
    one["controller"] = name(circuits::controller_names, circuits->controller);
    one["blocked"] = name(network::blocked_names, circuits->blocked);
    one["ports"] = circuits->ports;
    one["node_ports"] = by_number(circuits->node_ports);
    one["wavelengths"] = circuits->wavelengths;
    one["cable_wavelengths"] = by_number(circuits->cable_wavelengths);
    one["max_circuits"] = circuits->max_circuits;
    nb::list changes;
    for (const network::Circuits::Change& change : circuits->changes) {
        nb::dict at;
        at["at_s"] = change.at_s;
        at[change.is_cable ? "cable" : "node"] = change.which;
        at[change.is_cable ? "wavelengths" : "ports"] = change.number;
        changes.append(at);
    }
    one["changes"] = changes;
    return one;
}

/// A Link that knows whether another shares its capacity.
struct PythonLink : Link {
    bool half_duplex;
};

std::vector<PythonLink> links_of(const Network& network) {
    std::vector<std::int32_t> uses(static_cast<std::size_t>(network.num_capacities()), 0);
    for (const Link& link : network.links()) ++uses[static_cast<std::size_t>(link.capacity)];
    std::vector<PythonLink> links;
    for (const Link& link : network.links()) links.push_back({link, uses[static_cast<std::size_t>(link.capacity)] > 1});
    return links;
}

void bind_units(nb::module_& module) {
    module.def("parse_bandwidth", &base::parse_bandwidth, "text"_a, "where"_a = "",
               "\"93 Mbit/s\", \"25 GB/s\" -> bytes per second. `where` stands before the message of an error.");
    module.def("parse_duration", &base::parse_duration, "text"_a, "where"_a = "", "\"50 us\", \"1.5 ms\" -> seconds.");
    module.def("parse_bytes", &base::parse_bytes, "text"_a, "where"_a = "", "\"64 KiB\", \"1 MB\" -> bytes.");
    const auto refuse = [](double value, const char* expected) {
        throw InvalidInput(std::to_string(value) + " is not " + expected);
    };
    module.def(
        "print_bandwidth",
        [refuse](double bytes_per_s) {
            if (!(bytes_per_s > 0)) refuse(bytes_per_s, "a bandwidth: expected a number above 0");
            return base::print_bandwidth(bytes_per_s);
        },
        "bytes_per_s"_a, "The shortest text that parses back to the same value; \"unlimited\" for infinity.");
    module.def(
        "print_duration",
        [refuse](double seconds) {
            if (!(seconds >= 0) || !std::isfinite(seconds))
                refuse(seconds, "a duration: expected a finite number, at least 0");
            return base::print_duration(seconds);
        },
        "seconds"_a, "The shortest text that parses back to the same value.");
    module.def(
        "print_bytes",
        [](std::int64_t bytes) {
            if (bytes < 0) throw InvalidInput(std::to_string(bytes) + " is not a number of bytes: expected at least 0");
            return base::print_bytes(bytes);
        },
        "bytes"_a, "The shortest text that parses back to the same value.");
}

}  // namespace

void bind_network(nb::module_& module) {
    bind_units(module);

    nb::class_<Node>(module, "Node", "A vertex of a network.")
        .def_ro("name", &Node::name)
        .def_prop_ro(
            "kind", [](const Node& node) { return name_of(node.kind); },
            "\"host\" carries ranks and may relay, \"switch\" only relays, \"process\" is one of several ranks of a "
            "host.")
        .def_ro("relays", &Node::relays, "False: a host that forwards no messages of others.")
        .def("__repr__",
             [](const Node& node) { return "Node(" + node.name + ", " + std::string(name_of(node.kind)) + ")"; });

    nb::class_<PythonLink>(module, "Link", "A directed link. A cable is two: 2i and 2i+1 in a network from a file.")
        .def_prop_ro(
            "source", [](const PythonLink& link) { return link.source.value; }, "Index into Network.nodes.")
        .def_prop_ro(
            "target", [](const PythonLink& link) { return link.target.value; }, "Index into Network.nodes.")
        .def_ro("bandwidth_bytes_per_s", &PythonLink::bandwidth_bytes_per_s, "Infinity if unlimited.")
        .def_ro("latency_s", &PythonLink::latency_s)
        .def_ro("capacity", &PythonLink::capacity, "Equal for the two directions of a half-duplex cable, else unique.")
        .def_ro("half_duplex", &PythonLink::half_duplex, "It shares its bandwidth with its opposite.")
        .def("__repr__", [](const PythonLink& link) {
            return "Link(" + std::to_string(link.source.value) + " -> " + std::to_string(link.target.value) + ", " +
                   base::print_bandwidth(link.bandwidth_bytes_per_s) + ", " + base::print_duration(link.latency_s) +
                   ")";
        });

    using network::NativeTimes;
    nb::class_<NativeTimes>(module, "NativeTimes",
                            "How long an MPI's own function takes, beside the prediction of an algorithm in the order "
                            "of ranks; and how long schedules took beside their predictions.")
        .def(
            "__init__",
            [](NativeTimes* self, std::string mpi, std::string collective, std::int64_t bytes_max,
               std::string algorithm, std::optional<std::int64_t> segment_bytes, double factor,
               double schedule_factor) {
                new (self)
                    NativeTimes{std::move(mpi), std::move(collective), std::move(algorithm), segment_bytes, bytes_max,
                                factor,         schedule_factor};
            },
            "mpi"_a, "collective"_a, "bytes_max"_a, "algorithm"_a, "segment_bytes"_a = nb::none(), "factor"_a = 1.0,
            "schedule_factor"_a = 1.0)
        .def_ro("mpi", &NativeTimes::mpi)
        .def_ro("collective", &NativeTimes::collective)
        .def_ro("bytes_max", &NativeTimes::bytes_max)
        .def_ro("algorithm", &NativeTimes::algorithm)
        .def_ro("segment_bytes", &NativeTimes::segment_bytes)
        .def_ro("factor", &NativeTimes::factor)
        .def_ro("schedule_factor", &NativeTimes::schedule_factor);

    using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Network>(module, "Network", "Nodes, links and where each rank sits. Immutable.")
        .def_static("from_file", &network::from_file, "path"_a, ReleaseGil(), "Reads a network file (TOML).")
        .def_static("from_text", &network::from_text, "text"_a, "source_name"_a = "network", ReleaseGil(),
                    "Reads the text of a network file; `source_name` stands for the file in messages.")
        .def_static(
            "generate", &generate, "kind_and_shape"_a, "bandwidth"_a = nb::none(), "latency"_a = nb::none(),
            "second_bandwidth"_a = nb::none(), "trunk_bandwidth"_a = nb::none(), "trunk_latency"_a = nb::none(),
            "routing"_a = nb::none(), "seed"_a = nb::none(), ReleaseGil(),
            "star:16, two-clusters:4+4, tree:4x4, fat-tree:8x8x16, a tapered fat-tree:8x8x16/4x2, torus:4x4x4, "
            "mesh:4x4x4, hypercube:10 or dragonfly:4,8,4. Bandwidths and latencies of the links are text with a "
            "unit, or numbers in bytes per second and seconds; 1 Gbit/s and 0 unless given. second_bandwidth, "
            "trunk_bandwidth and trunk_latency are of two-clusters alone: the links of the second group, and "
            "the link between both. routing is \"d-mod-k\" (fat trees), \"dimension-order\" (torus, mesh, "
            "hypercube) or \"minimal\" (dragonfly), and for each of these also \"shortest-path\" or \"ecmp\": "
            "a hash of each pair, with a seed, chooses among the shortest paths.")
        .def_static("build", &network::build, "blueprint"_a, ReleaseGil())
        .def("blueprint", &network::blueprint_of, ReleaseGil(), "What `build` makes an equal network of.")
        .def(
            "on_hosts",
            [](const Network& n, const std::vector<std::string>& hosts) {
                std::vector<NodeId> nodes;
                for (const std::string& host : hosts) {
                    const auto found = network::find_host(n, host);
                    if (!found)
                        throw InvalidInput("network \"" + n.name() + "\" has no host " + base::quoted(host),
                                           "its hosts must have the names that `hostname` prints there");
                    nodes.push_back(*found);
                }
                return network::placed(n, nodes);
            },
            "hosts"_a, "The same network with one rank for each of these names of hosts, as `hostname` prints them.")
        .def_prop_ro(
            "native_times",
            [](const Network& n) {
                return n.calibration() == nullptr ? std::vector<NativeTimes>{} : n.calibration()->natives;
            },
            "What its file has of the times of MPIs' own collectives.")
        .def(
            "with_native_times",
            [](const Network& n, const std::vector<NativeTimes>& times) {
                network::Calibration found = n.calibration() == nullptr ? network::Calibration{} : *n.calibration();
                std::erase_if(found.natives, [&](const NativeTimes& old) {
                    return std::any_of(times.begin(), times.end(),
                                       [&](const NativeTimes& one) { return one.mpi == old.mpi; });
                });
                found.natives.insert(found.natives.end(), times.begin(), times.end());
                return Network(n).calibrated(std::move(found));
            },
            "times"_a, "The same network with these, instead of those that it had of the same MPIs.")
        .def("to_toml", &network::to_toml, ReleaseGil(), "A network file that reads back as an equal network.")
        .def_prop_ro("name", &Network::name)
        .def_prop_ro("num_ranks", &Network::num_ranks)
        .def_prop_ro("is_tree", &Network::is_tree)
        .def_prop_ro(
            "has_circuits", [](const Network& n) { return n.circuits() != nullptr; },
            "Whether its file has a table [circuits].")
        .def_prop_ro("circuits", &circuits_of, nb::sig("def circuits(self) -> dict[str, Any] | None"),
                     "What its file has in the table [circuits]; times in seconds, hosts and cables by their numbers.")
        .def(
            "host_of",
            [](const Network& n, std::int32_t rank) {
                if (rank < 0 || rank >= n.num_ranks())
                    throw InvalidInput("rank " + std::to_string(rank) + " is not in 0.." +
                                       std::to_string(n.num_ranks() - 1));
                return n.host_of(Rank{rank}).value;
            },
            "rank"_a, "The node that a rank sits on, or the host beside its process node.")
        .def_prop_ro("nodes", [](const Network& n) { return std::vector<Node>(n.nodes().begin(), n.nodes().end()); })
        .def_prop_ro("links", &links_of)
        .def_prop_ro(
            "rank_nodes", [](const Network& n) { return values_of(n.rank_nodes()); }, "The node of each rank.")
        .def_prop_ro("rank_hosts", &rank_hosts, "The host of each rank: its node, or the host of its process node.")
        .def(
            "route",
            [](const Network& n, std::int32_t source, std::int32_t target) {
                return values_of(n.route(checked(n, source), checked(n, target)));
            },
            "source"_a, "target"_a, "The links from one rank to another, in order.")
        .def(
            "depth_first_order",
            [](const Network& n, std::int32_t start) { return values_of(n.depth_first_order(checked(n, start))); },
            "start"_a, "All ranks in the order of a depth-first walk from the host of rank `start`.")
        .def(
            "__eq__", [](const Network& a, const Network& b) { return a == b; }, nb::is_operator())
        .def("__repr__", [](const Network& n) {
            return "Network(" + n.name() + ", num_ranks=" + std::to_string(n.num_ranks()) +
                   ", nodes=" + std::to_string(n.nodes().size()) + ", links=" + std::to_string(n.links().size()) + ")";
        });
}
