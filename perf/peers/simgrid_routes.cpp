// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// simgrid_routes PLATFORM.xml: for each line "source<TAB>target" on standard input, what SimGrid's route between the
// two hosts has: its latency in s and its least bandwidth in B/s.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

int main(int argc, char** argv) {
    simgrid::s4u::Engine engine(&argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "error: expected the path of a platform\n");
        return 2;
    }
    // Without the factors of a TCP model, which are none of the platform's.
    for (const char* option : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0"})
        simgrid::s4u::Engine::set_config(option);
    engine.load_platform(argv[1]);
    engine.seal_platform();
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto tab = line.find('\t');
        const auto* const source = engine.host_by_name(line.substr(0, tab));
        const auto* const target = engine.host_by_name(line.substr(tab + 1));
        std::vector<simgrid::s4u::Link*> links;
        double latency_s = 0;
        source->route_to(target, links, &latency_s);
        double bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();
        for (const auto* link : links) bandwidth_bytes_per_s = std::min(bandwidth_bytes_per_s, link->get_bandwidth());
        std::printf("%.17g %.17g\n", latency_s, bandwidth_bytes_per_s);
    }
    return 0;
}
