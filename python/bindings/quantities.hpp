// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>

#include <optional>
#include <string>
#include <variant>

#include "hocket/base/units.hpp"

namespace bindings {

/// A number in SI units, or text with a unit.
using Quantity = std::optional<std::variant<double, std::string>>;

inline std::optional<double> bandwidth_of(const Quantity& quantity, const char* key) {
    if (!quantity) return std::nullopt;
    if (const auto* number = std::get_if<double>(&*quantity)) return *number;
    return hocket::base::parse_bandwidth(std::get<std::string>(*quantity), key);
}
inline std::optional<double> duration_of(const Quantity& quantity, const char* key) {
    if (!quantity) return std::nullopt;
    if (const auto* number = std::get_if<double>(&*quantity)) return *number;
    return hocket::base::parse_duration(std::get<std::string>(*quantity), key);
}

}  // namespace bindings
