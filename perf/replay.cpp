// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What simulate() takes for a Program: replay NETWORK COLLECTIVE ALGORITHM BYTES [SHARING], for instance
//   replay fat-tree:8x8x16 allreduce ring 1000000
// prints one line: ranks, ops of the program (sends, receives and reductions), makespan, real and user CPU seconds of
// the simulation, ops a user second, and the largest resident set of the process.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/simulation/simulate.hpp"

using namespace hocket;

namespace {

double user_s() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 5 && argc != 6) {
        std::fprintf(stderr, "usage: replay NETWORK COLLECTIVE ALGORITHM BYTES [none|equal|maxmin|reserve]\n");
        return 2;
    }
    network::GenerateOptions generate_options;
    generate_options.bandwidth_bytes_per_s = 1e9;
    generate_options.latency_s = 1e-6;
    const Network network = network::build(network::generate(argv[1], generate_options));
    const collectives::Algorithm& algorithm = collectives::find_algorithm(collective_from(argv[2]), argv[3]);
    const Program program = lower(collectives::emit(algorithm, {network.num_ranks()}, {}), std::stoll(argv[4]));
    std::size_t num_ops = 0;
    for (const RankProgram& rank : program.ranks) num_ops += rank.ops.size();
    SimulationOptions options;
    if (argc == 6) options.costs = CostParameters{.sharing = sharing_from(argv[5])};
    const double before_s = user_s();
    const auto begin = std::chrono::steady_clock::now();
    const Timeline timeline = simulate(program, network, options);
    const double real_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double used_s = user_s() - before_s;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%8d %-14s %-20s ops %9zu makespan %.12g real_s %.3f user_s %.3f ops_per_s %.0f MB %ld\n",
                network.num_ranks(), argv[2], argv[3], num_ops, timeline.makespan_s, real_s, used_s,
                static_cast<double>(num_ops) / used_s, usage.ru_maxrss / 1000);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
}
