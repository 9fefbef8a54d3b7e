// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "hocket/base/units.hpp"
#include "hocket/network/calibration.hpp"
#include "hocket/network/toml_reader.hpp"

namespace hocket::network {

/// Table [calibration], as python/hocket/calibrate/file.py writes it. Keys that it does not know are for people.
class CalibrationReader : TomlReader {
public:
    explicit CalibrationReader(std::string_view source_name) : TomlReader(source_name) {}

    [[nodiscard]] Calibration read(const toml::node& node) const {
        const toml::table& table = table_of(node, "calibration");
        Calibration found;
        found.send_overhead_s = optional_latency(table, "send_overhead");
        found.receive_overhead_s = optional_latency(table, "receive_overhead");
        found.reduce_bytes_per_s = optional_bandwidth(table, "reduce_bandwidth");
        // Not copy_bandwidth: the wire hides copies of a long message, and the simulator would add them.
        if (const toml::node* size = table.get("rendezvous_bytes")) found.rendezvous_bytes = whole_bytes(*size);
        if (const toml::node* burst = table.get("burst"))
            found.burst_bytes =
                base::parse_bytes(text_of(*burst, "burst", "text such as \"64 KiB\""), at(burst->source()) + "burst");
        found.burst_s = optional_latency(table, "burst_time").value_or(0);
        found.toml = text_of_table(table);
        return found;
    }

private:
    [[nodiscard]] std::int64_t whole_bytes(const toml::node& node) const {
        const auto* number = node.as_integer();
        if (number == nullptr || number->get() < 1)
            refuse(node, "rendezvous_bytes is " + kind_of(node) + "; expected: a whole number above 0",
                   "leave it out for the default");
        return number->get();
    }

    static std::string text_of_table(const toml::table& table) {
        toml::table whole;
        whole.insert("calibration", table);
        std::ostringstream text;
        text << toml::toml_formatter(whole, toml::format_flags::allow_unicode_strings);
        return text.str() + "\n";
    }
};

}  // namespace hocket::network
