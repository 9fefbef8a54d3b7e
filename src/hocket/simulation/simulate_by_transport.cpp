// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/simulate.hpp"
#include "hocket/simulation/simulate_by.hpp"

namespace hocket {

Timeline simulate(const Program& program, const Network& network, const SimulationOptions& options,
                  Transport& transport) {
    return simulation::simulate_by(program, network, options, transport);
}

}  // namespace hocket
