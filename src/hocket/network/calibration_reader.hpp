// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cmath>
#include <optional>
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
        if (const toml::node* size = table.get("rendezvous_bytes"))
            found.rendezvous_bytes = whole_bytes(*size, "rendezvous_bytes");
        if (const toml::node* burst = table.get("burst"))
            found.burst_bytes =
                base::parse_bytes(text_of(*burst, "burst", "text such as \"64 KiB\""), at(burst->source()) + "burst");
        found.burst_s = optional_latency(table, "burst_time").value_or(0);
        for (const toml::table* native : tables_of(table, "native")) found.natives.push_back(native_times(*native));
        found.toml = text_of_table(table);
        return found;
    }

private:
    [[nodiscard]] NativeTimes native_times(const toml::table& table) const {
        const auto positive = [&](std::string_view key) {
            const toml::node& node = required(table, key, "a number above 0");
            const auto value = node.value<double>();
            if (!value || !(*value > 0) || !std::isfinite(*value))
                refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: a number above 0");
            return *value;
        };
        const toml::node* const segment = table.get("segment_bytes");
        return {text_of(table, "mpi", "the name of an MPI"),
                text_of(table, "collective", "a name such as \"bcast\""),
                text_of(table, "algorithm", "a name such as \"binomial\""),
                segment == nullptr ? std::nullopt : std::optional(whole_bytes(*segment, "segment_bytes")),
                whole_bytes(required(table, "up_to_bytes", "a whole number above 0"), "up_to_bytes"),
                positive("factor"),
                positive("schedule_factor")};
    }

    [[nodiscard]] std::int64_t whole_bytes(const toml::node& node, std::string_view key) const {
        const auto* number = node.as_integer();
        if (number == nullptr || number->get() < 1)
            refuse(node, std::string(key) + " is " + kind_of(node) + "; expected: a whole number above 0",
                   key == "rendezvous_bytes" ? "leave it out for the default" : "");
        return number->get();
    }

    static std::string text_of_table(toml::table table) {
        table.erase("native");
        toml::table whole;
        whole.insert("calibration", table);
        std::ostringstream text;
        text << toml::toml_formatter(whole, toml::format_flags::allow_unicode_strings);
        return text.str() + "\n";
    }
};

}  // namespace hocket::network
