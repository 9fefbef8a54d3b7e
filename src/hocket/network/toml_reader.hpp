// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "hocket/base/toml_reader.hpp"
#include "hocket/base/units.hpp"
#include "hocket/network/ranges.hpp"

namespace hocket::network {

using base::Keys;

/// With the quantities of a network.
class TomlReader : protected base::TomlReader {
protected:
    using base::TomlReader::TomlReader;

    double bandwidth(const toml::node& node, std::string_view key) const {
        const auto* text = node.as_string();
        if (text != nullptr && text->get() == "unlimited") return std::numeric_limits<double>::infinity();
        const double value = quantity(node, key, &base::parse_bandwidth, "1 Gbit/s");
        check_bandwidth(value, at(node.source()) + std::string(key));
        return value;
    }
    double latency(const toml::node& node, std::string_view key) const {
        const double value = quantity(node, key, &base::parse_duration, "50 us");
        check_latency(value, at(node.source()) + std::string(key));
        return value;
    }
    std::optional<double> optional_bandwidth(const toml::table& table, std::string_view key) const {
        const toml::node* node = table.get(key);
        return node == nullptr ? std::nullopt : std::optional(bandwidth(*node, key));
    }
    std::optional<double> optional_latency(const toml::table& table, std::string_view key) const {
        const toml::node* node = table.get(key);
        return node == nullptr ? std::nullopt : std::optional(latency(*node, key));
    }
};

}  // namespace hocket::network
