// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <unordered_map>

#include "hocket/base/error.hpp"
#include "hocket/base/format_version.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/blueprint.hpp"
#include "hocket/network/calibration_reader.hpp"
#include "hocket/network/circuits_reader.hpp"
#include "hocket/network/file.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/toml_reader.hpp"

namespace hocket::network {
namespace {

constexpr std::array<std::string_view, 9> file_keys{"format",  "name",     "placement",   "node",    "link",
                                                    "routing", "generate", "calibration", "circuits"};
constexpr std::array<std::string_view, 6> node_keys{"name",           "kind", "ranks", "memory_bandwidth",
                                                    "memory_latency", "relay"};
constexpr std::array<std::string_view, 6> link_keys{"between",        "bandwidth",    "latency",
                                                    "bandwidth_back", "latency_back", "duplex"};
constexpr std::array<std::string_view, 9> generate_keys{
    "kind", "shape", "bandwidth", "latency", "routing", "seed", "second_bandwidth", "trunk_bandwidth", "trunk_latency"};
constexpr std::array<std::string_view, 3> routing_keys{"kind", "seed", "routes"};

class Reader : TomlReader {
public:
    explicit Reader(std::string_view source_name) : TomlReader(source_name) {}

    Network read(std::string_view text) {
        const toml::table file = parse(text);
        check_keys(file, "a network file", file_keys);
        const std::string format = text_of(file, "format", "\"hocket.network/1\"");
        if (format != "hocket.network/1")
            refuse(
                *file.get("format"),
                "format " + base::quoted(format) + " is not known; accepted: \"hocket.network/1\"" +
                    (base::is_newer_format(format, "hocket.network/1") ? "; " + std::string(base::made_by_newer) : ""));
        Network network = read_network(file);
        if (const toml::node* circuits = file.get("circuits")) {
            Circuits found = CircuitsReader(source_name_, network).read(*circuits);
            try {
                network = std::move(network).with_circuits(std::move(found));
            } catch (const InvalidInput& error) {
                refuse(*circuits, error.what(), error.hint());
            }
        }
        const toml::node* calibration = file.get("calibration");
        if (calibration == nullptr) return network;
        return std::move(network).calibrated(CalibrationReader(source_name_).read(*calibration));
    }

private:
    Network read_network(const toml::table& file) {
        std::optional<std::string> name;
        if (file.contains("name")) name = text_of(file, "name", "a string");
        Blueprint blueprint;
        if (const toml::node* generate_node = file.get("generate")) {
            for (const char* key : {"node", "link", "routing"})
                if (const toml::node* other = file.get(key))
                    refuse(*other, std::string(key) + " and [generate] exclude each other");
            const toml::table& table = table_of(*generate_node, "generate");
            const auto [kind_and_shape, options] = read_generate(table);
            try {
                if (!file.contains("placement") && name != "")  // an empty name is a name, too
                    return generate_network(kind_and_shape, options, name.value_or(""));
                blueprint = generate(kind_and_shape, options);
            } catch (const InvalidInput& error) {
                refuse(table, error.what(), error.hint());
            }
        } else {
            read_nodes(file, blueprint);
            read_links(file, blueprint);
            if (const toml::node* routing = file.get("routing")) read_routing(table_of(*routing, "routing"), blueprint);
            blueprint.name = std::filesystem::path(source_name_).stem().string();
        }
        if (name) blueprint.name = *name;
        if (const toml::node* placement = file.get("placement")) read_placement(*placement, blueprint);
        try {
            return build(blueprint);
        } catch (const InvalidRoute& error) {
            refuse(route_sources_[error.index], error.what(), error.hint());
        } catch (const InvalidInput& error) {
            throw InvalidInput(source_name_ + ": " + error.what(), error.hint());
        }
    }

    void read_nodes(const toml::table& file, Blueprint& blueprint) {
        std::int64_t places = 0;
        for (const toml::table* table : tables_of(file, "node")) {
            check_keys(*table, "[[node]]", node_keys);
            Blueprint::Node node;
            node.name = text_of(*table, "name", "a string");
            if (node.name.empty()) refuse(*table->get("name"), "a node's name is empty");
            const std::string kind = text_of(*table, "kind", "\"host\" or \"switch\"");
            if (kind != "host" && kind != "switch")
                refuse(*table->get("kind"),
                       "kind " + base::quoted(kind) + " is not known; accepted: \"host\", \"switch\"");
            node.kind = kind == "host" ? NodeKind::host : NodeKind::switch_;
            if (node.kind == NodeKind::switch_) node.ranks = 0;
            for (const std::string_view key : {"ranks", "memory_bandwidth", "memory_latency", "relay"})
                if (const toml::node* value = table->get(key); value != nullptr && node.kind == NodeKind::switch_)
                    refuse(*value, std::string(key) + " belongs to hosts; " + base::quoted(node.name) + " is a switch");
            if (const toml::node* ranks = table->get("ranks")) node.ranks = read_ranks(*ranks);
            for (const std::string_view key : {"memory_bandwidth", "memory_latency"})
                if (const toml::node* value = table->get(key); value != nullptr && node.ranks < 2)
                    refuse(*value, std::string(key) + " needs ranks above 1; " + base::quoted(node.name) + " has " +
                                       std::to_string(node.ranks));
            if (const auto value = optional_bandwidth(*table, "memory_bandwidth"))
                node.memory_bandwidth_bytes_per_s = *value;
            if (const auto value = optional_latency(*table, "memory_latency")) node.memory_latency_s = *value;
            if (const toml::node* relay = table->get("relay")) {
                if (!relay->is_boolean()) refuse(*relay, "relay is " + kind_of(*relay) + "; expected: true or false");
                node.relays = relay->as_boolean()->get();
            }
            places += 1 + (node.ranks > 1 ? node.ranks : 0);
            if (places > max_nodes)
                refuse(*table, "the network has more than " + std::to_string(max_nodes) + " nodes and processes");
            const auto [known, is_new] =
                nodes_.try_emplace(node.name, static_cast<std::int32_t>(blueprint.nodes.size()));
            if (!is_new)
                refuse(*table, "a second node has the name " + base::quoted(node.name) + "; the first is in line " +
                                   std::to_string(lines_[static_cast<std::size_t>(known->second)]));
            lines_.push_back(table->source().begin.line);
            blueprint.nodes.push_back(std::move(node));
        }
    }

    std::int32_t read_ranks(const toml::node& node) const {
        const auto* number = node.as_integer();
        if (number == nullptr || number->get() < 0 || number->get() > max_nodes)
            refuse(node, "ranks is " + kind_of(node) + "; expected: an integer in 0.." + std::to_string(max_nodes));
        return static_cast<std::int32_t>(number->get());
    }

    std::int32_t find_node(const toml::node& node, std::string_view key) const {
        const std::string name = text_of(node, key, "the name of a node");
        const auto found = nodes_.find(name);
        if (found != nodes_.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& [known, id] : nodes_) names.push_back(known);
        std::sort(names.begin(), names.end());
        const std::string accepted = names.size() <= 16 ? "; the file has " + base::list_of(names) : "";
        refuse(node, std::string(key) + ": no node has the name " + base::quoted(name) + accepted,
               base::did_you_mean(name, names));
    }

    void read_links(const toml::table& file, Blueprint& blueprint) const {
        std::set<std::pair<std::int32_t, std::int32_t>> joined;
        for (const toml::table* table : tables_of(file, "link")) {
            check_keys(*table, "[[link]]", link_keys);
            const std::string expected = "two names, such as [\"a0\", \"s0\"]";
            const toml::node& between = required(*table, "between", expected);
            const auto* ends = between.as_array();
            if (ends == nullptr || ends->size() != 2) refuse(between, "between is not a pair; expected: " + expected);
            Blueprint::Cable cable{};
            cable.first = find_node((*ends)[0], "between");
            cable.second = find_node((*ends)[1], "between");
            const auto name = [&](std::int32_t n) {
                return base::quoted(blueprint.nodes[static_cast<std::size_t>(n)].name);
            };
            if (cable.first == cable.second) refuse(between, "a link joins " + name(cable.first) + " with itself");
            if (!joined.insert(std::minmax(cable.first, cable.second)).second)
                refuse(between, "a second link joins " + name(cable.first) + " and " + name(cable.second),
                       "write one link with the sum of the bandwidths");
            cable.bandwidth_bytes_per_s =
                bandwidth(required(*table, "bandwidth", "text such as \"1 Gbit/s\""), "bandwidth");
            cable.bandwidth_back_bytes_per_s =
                optional_bandwidth(*table, "bandwidth_back").value_or(cable.bandwidth_bytes_per_s);
            cable.latency_s = optional_latency(*table, "latency").value_or(0);
            cable.latency_back_s = optional_latency(*table, "latency_back").value_or(cable.latency_s);
            if (const toml::node* duplex = table->get("duplex")) {
                const std::string value = text_of(*duplex, "duplex", "\"full\" or \"half\"");
                if (value != "full" && value != "half")
                    refuse(*duplex, "duplex " + base::quoted(value) + " is not known; accepted: \"full\", \"half\"");
                cable.half_duplex = value == "half";
            }
            if (cable.half_duplex &&
                std::not_equal_to<>{}(cable.bandwidth_bytes_per_s, cable.bandwidth_back_bytes_per_s))
                refuse(*table->get("bandwidth_back"), "both directions of a half-duplex link share one bandwidth",
                       "leave bandwidth_back out");
            blueprint.cables.push_back(cable);
        }
    }

    /// Kind and shape, and the options.
    [[nodiscard]] std::pair<std::string, GenerateOptions> read_generate(const toml::table& table) const {
        check_keys(table, "[generate]", generate_keys);
        GenerateOptions options;
        options.bandwidth_bytes_per_s =
            bandwidth(required(table, "bandwidth", "text such as \"1 Gbit/s\""), "bandwidth");
        options.latency_s = optional_latency(table, "latency").value_or(0);
        options.second_bandwidth_bytes_per_s = optional_bandwidth(table, "second_bandwidth");
        options.trunk_bandwidth_bytes_per_s = optional_bandwidth(table, "trunk_bandwidth");
        options.trunk_latency_s = optional_latency(table, "trunk_latency");
        if (table.contains("routing")) options.routing = text_of(table, "routing", "text such as \"ecmp\"");
        options.seed = optional_seed(table);
        const std::string kind = text_of(table, "kind", "text such as \"fat-tree\"");
        const std::string shape = text_of(table, "shape", "text such as \"8x8x16\"");
        return {kind + ":" + shape, options};
    }

    std::optional<std::int64_t> optional_seed(const toml::table& table) const {
        const toml::node* node = table.get("seed");
        if (node == nullptr) return std::nullopt;
        const auto* number = node->as_integer();
        if (number == nullptr || number->get() < 0)
            refuse(*node, "seed is " + kind_of(*node) + "; expected: an integer of at least 0");
        return number->get();
    }

    void read_routing(const toml::table& table, Blueprint& blueprint) {
        check_keys(table, "[routing]", routing_keys);
        const std::string accepted = "\"shortest-path\", \"ecmp\"";
        std::string kind = "shortest-path";
        if (table.contains("kind")) kind = text_of(table, "kind", accepted);
        if (kind != "shortest-path" && kind != "ecmp")
            refuse(*table.get("kind"), "kind " + base::quoted(kind) + " is not known; accepted: " + accepted);
        const std::optional<std::int64_t> seed = optional_seed(table);
        if (seed && kind != "ecmp") refuse(*table.get("seed"), "seed belongs to kind \"ecmp\" alone");
        if (kind == "ecmp") blueprint.routing.ecmp_seed = seed.value_or(1);
        const toml::node* routes = table.get("routes");
        if (routes == nullptr) return;
        const std::string expected = "; expected: lists of node names from one host to another";
        if (!routes->is_array()) refuse(*routes, "routes is " + kind_of(*routes) + expected);
        for (const toml::node& element : *routes->as_array()) {
            if (!element.is_array()) refuse(element, "routes holds " + kind_of(element) + expected);
            std::vector<NodeId>& route = blueprint.routing.routes.emplace_back();
            for (const toml::node& node : *element.as_array()) route.emplace_back(find_node(node, "routes"));
            route_sources_.push_back(element.source());
        }
    }

    void read_placement(const toml::node& node, Blueprint& blueprint) {
        const std::string expected = "\"block\", \"cyclic\" or a list of hosts, one for each rank";
        if (const auto* text = node.as_string()) {
            if (text->get() == "cyclic")
                blueprint.placement = cyclic_placement(blueprint);
            else if (text->get() != "block")
                refuse(node, "placement " + base::quoted(text->get()) + " is not known; accepted: " + expected);
            return;
        }
        const auto* hosts = node.as_array();
        if (hosts == nullptr || hosts->empty())
            refuse(node, "placement is " + kind_of(node) + "; expected: " + expected);
        if (nodes_.empty())  // of [generate], where nothing else needs the names
            for (std::size_t n = 0; n < blueprint.nodes.size(); ++n)
                nodes_.emplace(blueprint.nodes[n].name, static_cast<std::int32_t>(n));
        std::vector<std::int32_t> used(blueprint.nodes.size(), 0);
        for (const toml::node& element : *hosts) {
            const std::int32_t host = find_node(element, "placement");
            const Blueprint::Node& found = blueprint.nodes[static_cast<std::size_t>(host)];
            if (found.kind == NodeKind::switch_)
                refuse(element, "placement: " + base::quoted(found.name) + " is a switch; ranks sit on hosts");
            if (++used[static_cast<std::size_t>(host)] > found.ranks)
                refuse(element,
                       "placement names " + base::quoted(found.name) +
                           " more often than its ranks = " + std::to_string(found.ranks),
                       "raise ranks of that host");
            blueprint.placement.push_back(host);
        }
    }

    std::unordered_map<std::string, std::int32_t> nodes_;  // by name
    std::vector<toml::source_index> lines_;                // [node] where it is
    std::vector<toml::source_region> route_sources_;       // [route] where it is
};

}  // namespace

Network from_text(std::string_view text, std::string_view source_name) { return Reader(source_name).read(text); }

constexpr std::size_t largest_file_bytes = std::size_t{64} << 20;
constexpr std::streamsize read_bytes = 1 << 16;

std::string text_of_file(const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput(path.string() + ": cannot read the network file: " + why,
                           "give the path of a TOML file of format \"hocket.network/1\"");
    };
    std::error_code ignored;  // what is wrong with it, as too long a name, opening reports
    if (std::filesystem::is_directory(path, ignored)) refuse("it is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(errno != 0 ? std::strerror(errno) : "it cannot be opened");
    // A device such as /dev/zero has no end.
    std::string text;
    while (file && text.size() <= largest_file_bytes) {
        const std::size_t read = text.size();
        text.resize(read + read_bytes);
        file.read(text.data() + read, read_bytes);
        text.resize(read + static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) refuse("reading failed");
    if (text.size() > largest_file_bytes) refuse("it is longer than 64 MiB");
    return text;
}

Network from_file(const std::filesystem::path& path) { return from_text(text_of_file(path), path.string()); }

}  // namespace hocket::network
