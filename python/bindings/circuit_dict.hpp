// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <nanobind/nanobind.h>

#include "hocket/circuits/circuit.hpp"

namespace bindings {

/// As docs/reference/circuits.md has it.
inline nanobind::dict to_dict(const hocket::circuits::Circuit& circuit) {
    nanobind::dict one;
    one["nodes"] = nanobind::make_tuple(circuit.a, circuit.b);
    one["configuration"] = circuit.configuration;
    one["setup_s"] = nanobind::make_tuple(circuit.setup_s, circuit.open_s);
    one["teardown_s"] = nanobind::make_tuple(circuit.teardown_s, circuit.down_s);
    if (circuit.port_a < 0) return one;
    one["ports"] = nanobind::make_tuple(circuit.port_a, circuit.port_b);
    one["wavelength"] = circuit.wavelength;
    return one;
}

}  // namespace bindings
