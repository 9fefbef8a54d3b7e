// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hocket/network/circuits.hpp"
#include "hocket/network/network.hpp"
#include "hocket/network/toml_reader.hpp"

namespace hocket::network {

/// Table [circuits] of a network file.
class CircuitsReader : TomlReader {
public:
    CircuitsReader(std::string_view source_name, const Network& network) : TomlReader(source_name), network_(&network) {
        for (std::size_t n = 0; n < network.nodes().size(); ++n)
            nodes_.emplace(network.nodes()[n].name, static_cast<std::int32_t>(n));
    }

    [[nodiscard]] Circuits read(const toml::node& node) const {
        const toml::table& table = table_of(node, "circuits");
        check_keys(table, "[circuits]", keys);
        Circuits found;
        found.times.setup_s = latency(required(table, "setup", "a time such as \"10 ms\""), "setup");
        found.times.teardown_s = latency(required(table, "teardown", "a time such as \"10 ms\""), "teardown");
        found.ports = count(required(table, "ports", "a whole number, of each host"), "ports", 1);
        found.times.accounting = one_of<circuits::Accounting>(table, "accounting", circuits::accounting_names);
        found.injection = one_of<circuits::Injection>(table, "injection", circuits::injection_names);
        found.stop = one_of<circuits::Stop>(table, "stop", circuits::stop_names);
        found.controller = one_of<circuits::Controller>(table, "controller", circuits::controller_names);
        found.blocked = one_of<Blocked>(table, "blocked", blocked_names);
        if (const toml::node* most = table.get("wavelengths")) found.wavelengths = count(*most, "wavelengths", 1);
        if (const toml::node* most = table.get("max_circuits")) found.max_circuits = count(*most, "max_circuits", 1);
        read_switches(table, found);
        for (const toml::table* host : tables_of(table, "node")) {
            check_keys(*host, "[[circuits.node]]", node_keys);
            found.node_ports.emplace_back(this->host(*host), count(required(*host, "ports", number), "ports", 0));
        }
        for (const toml::table* cable : tables_of(table, "link")) {
            check_keys(*cable, "[[circuits.link]]", link_keys);
            found.cable_wavelengths.emplace_back(this->cable(*cable),
                                                 count(required(*cable, "wavelengths", number), "wavelengths", 0));
        }
        sort_and_refuse_twice(table, found.node_ports, "node");
        sort_and_refuse_twice(table, found.cable_wavelengths, "link");
        for (const toml::table* change : tables_of(table, "change")) found.changes.push_back(read_change(*change));
        std::stable_sort(found.changes.begin(), found.changes.end(),
                         [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
        return found;
    }

private:
    static constexpr std::array<std::string_view, 14> keys{
        "setup",     "teardown", "ports",      "wavelengths", "max_circuits", "switches", "accounting",
        "injection", "stop",     "controller", "blocked",     "node",         "link",     "change"};
    static constexpr std::array<std::string_view, 2> node_keys{"name", "ports"};
    static constexpr std::array<std::string_view, 2> link_keys{"between", "wavelengths"};
    static constexpr std::array<std::string_view, 5> change_keys{"at", "node", "ports", "between", "wavelengths"};
    static constexpr const char* number = "a whole number of at least 0";

    /// The enumerators of `Value` in the order of their names; the first without the key.
    template <class Value>
    [[nodiscard]] Value one_of(const toml::table& table, std::string_view key,
                               std::span<const std::string_view> accepted) const {
        if (!table.contains(key)) return Value{};
        const std::string name = text_of(table, key, base::list_of(accepted));
        const auto found = std::find(accepted.begin(), accepted.end(), name);
        if (found == accepted.end())
            refuse(*table.get(key),
                   std::string(key) + " " + base::quoted(name) + " is not known; accepted: " + base::list_of(accepted),
                   base::did_you_mean(name, accepted));
        return static_cast<Value>(found - accepted.begin());
    }

    [[nodiscard]] std::int32_t count(const toml::node& node, std::string_view key, std::int32_t least) const {
        const auto* value = node.as_integer();
        constexpr std::int64_t most = 1 << 20;
        if (value == nullptr || value->get() < least || value->get() > most)
            refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: a whole number of " +
                             std::to_string(least) + " to " + std::to_string(most));
        return static_cast<std::int32_t>(value->get());
    }

    [[nodiscard]] std::int32_t find(const toml::node& node, std::string_view key) const {
        const std::string name = text_of(node, key, "the name of a node");
        const auto found = nodes_.find(name);
        if (found == nodes_.end()) refuse(node, std::string(key) + ": no node has the name " + base::quoted(name));
        return found->second;
    }

    [[nodiscard]] std::int32_t host(const toml::table& table, std::string_view key = "name") const {
        const toml::node& node = required(table, key, "the name of a host");
        const std::int32_t found = find(node, key);
        if (network_->node(NodeId{found}).kind != NodeKind::host)
            refuse(node, base::quoted(network_->node(NodeId{found}).name) + " is not a host; ports are of hosts");
        return found;
    }

    [[nodiscard]] std::int32_t cable(const toml::table& table) const {
        const toml::node& between = required(table, "between", "two names, such as [\"a0\", \"s0\"]");
        const auto* ends = between.as_array();
        if (ends == nullptr || ends->size() != 2) refuse(between, "between is not a pair of names");
        const NodeId first{find((*ends)[0], "between")}, second{find((*ends)[1], "between")};
        for (const LinkId link : network_->links_from(first))
            if (network_->link(link).target == second) return link.value / 2;
        refuse(between, "no link joins " + base::quoted(network_->node(first).name) + " and " +
                            base::quoted(network_->node(second).name));
    }

    void read_switches(const toml::table& table, Circuits& found) const {
        const toml::node* list = table.get("switches");
        if (list == nullptr) {
            for (std::size_t n = 0; n < network_->nodes().size(); ++n)
                if (network_->nodes()[n].kind == NodeKind::switch_)
                    found.switches.push_back(static_cast<std::int32_t>(n));
            if (found.switches.empty()) refuse(table, "the network has no switch, and circuits need one");
            return;
        }
        const auto* names = list->as_array();
        if (names == nullptr || names->empty())
            refuse(*list, "switches is " + kind_of(*list) + "; expected: a list of names");
        for (const toml::node& name : *names) {
            const std::int32_t node = find(name, "switches");
            if (network_->node(NodeId{node}).kind != NodeKind::switch_)
                refuse(name, base::quoted(network_->node(NodeId{node}).name) + " is not a switch");
            found.switches.push_back(node);
        }
        std::sort(found.switches.begin(), found.switches.end());
        found.switches.erase(std::unique(found.switches.begin(), found.switches.end()), found.switches.end());
    }

    void sort_and_refuse_twice(const toml::table& table, std::vector<std::pair<std::int32_t, std::int32_t>>& pairs,
                               const char* key) const {
        std::sort(pairs.begin(), pairs.end());
        const auto twice = std::adjacent_find(pairs.begin(), pairs.end(),
                                              [](const auto& a, const auto& b) { return a.first == b.first; });
        if (twice != pairs.end())
            refuse(*table.get(key), std::string("a second [[circuits.") + key + "]] is of the same one");
    }

    [[nodiscard]] Circuits::Change read_change(const toml::table& table) const {
        check_keys(table, "[[circuits.change]]", change_keys);
        const double at_s = latency(required(table, "at", "a time such as \"2 s\""), "at");
        const bool is_cable = table.contains("between");
        if (is_cable == table.contains("node"))
            refuse(table, "[[circuits.change]] is of a node and its ports, or between two nodes and of wavelengths");
        const char* key = is_cable ? "wavelengths" : "ports";
        if (const toml::node* other = table.get(is_cable ? "ports" : "wavelengths"))
            refuse(*other, std::string("expected ") + key + " here");
        return {at_s, is_cable, is_cable ? cable(table) : host(table, "node"),
                count(required(table, key, number), key, 0)};
    }

    const Network* network_;
    std::unordered_map<std::string_view, std::int32_t> nodes_;  // by name
};

}  // namespace hocket::network
