// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What simulate_traffic takes: simulation NETWORK PATTERN SIZES SHARING [THREADS [reference]], for instance
//   simulation fat-tree:32x32x64 permutation random maxmin
// prints one line: nodes, events, rates given, makespan and mean finish in units of one message alone, real seconds, user
// CPU seconds of set-up and simulation together, and the largest resident set of the process. Ten messages of 1 MB
// (random: 0.5 to 1.5 MB) a node, latency 0, one bandwidth.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "hocket/patterns/patterns.hpp"
#include "hocket/simulation/traffic.hpp"

using namespace hocket;

int main(int argc, char** argv) try {
    if (argc < 5 || argc > 7) {
        std::fprintf(stderr,
                     "usage: simulation NETWORK ring|permutation identical|random none|equal|maxmin|reserve [THREADS "
                     "[reference]]\n");
        return 2;
    }
    const std::string pattern = argv[2], sizes_name = argv[3];
    network::GenerateOptions cables;
    cables.bandwidth_bytes_per_s = 1e6;
    const auto made = network::make_fabric(argv[1], cables);
    const network::Fabric& fabric = *made;
    const patterns::MessageSizes sizes{1'000'000, sizes_name == "random" ? 0.5 : 0.0, 1};
    const auto traffic = pattern == "ring" ? patterns::random_ring(fabric.num_ranks(), 10, sizes, 1)
                                           : patterns::random_permutation(fabric.num_ranks(), 10, sizes, 1);
    TrafficOptions options;
    options.sharing = sharing_from(argv[4]);
    if (argc > 5) options.num_threads = std::stoi(argv[5]);
    options.reference = argc > 6;
    const TrafficResult result = simulate_traffic(*traffic, *fabric, options);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "%8d %-11s %-9s %-6s events %9lld rates %10lld makespan %.9f mean %.9f real_s %.3f user_s %.3f sys_s %.3f MB "
        "%ld\n",
        fabric->num_ranks(), argv[2], argv[3], argv[4], static_cast<long long>(result.num_messages),
        static_cast<long long>(result.num_rates), result.makespan_s, result.mean_finish_s,
        result.setup_s + result.solve_s,
        static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec),
        static_cast<double>(usage.ru_stime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_stime.tv_usec),
        usage.ru_maxrss / 1000);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
}
