// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Independent simulations in one process: simulations_at_once NETWORK THREADS COUNT runs COUNT random permutations of
// messages of random sizes with max-min fairness on THREADS threads, and the same on one thread, in turns; prints the
// real time of both. Nothing is shared but the network: on as many idle cores as threads, the ratio is the number of
// threads, as far as caches and memory allow.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "hocket/network/fabric.hpp"
#include "hocket/patterns/patterns.hpp"
#include "hocket/simulation/traffic.hpp"

using namespace hocket;

namespace {

double seconds_for(const network::Fabric& fabric, int num_threads, int count) {
    const auto begin = std::chrono::steady_clock::now();
    std::atomic<int> next = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < num_threads; ++t)
        threads.emplace_back([&] {
            for (int i = next++; i < count; i = next++) {
                const auto seed = static_cast<std::uint64_t>(i);
                simulate_traffic(*patterns::random_permutation(fabric.num_ranks(), 10, {1'000'000, 0.5, seed}, seed),
                                 fabric);
            }
        });
    for (std::thread& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 4) {
        std::fprintf(stderr, "usage: simulations_at_once NETWORK THREADS COUNT\n");
        return 2;
    }
    network::GenerateOptions options;
    options.bandwidth_bytes_per_s = 1e6;
    const auto fabric = network::make_fabric(argv[1], options);
    const int num_threads = std::stoi(argv[2]), count = std::stoi(argv[3]);
    for (int turn = 0; turn < 3; ++turn) {
        const double one_s = seconds_for(*fabric, 1, count), all_s = seconds_for(*fabric, num_threads, count);
        std::printf("%s: %d simulations on 1 thread %.3f s, on %d threads %.3f s, ratio %.2f\n", argv[1], count, one_s,
                    num_threads, all_s, one_s / all_s);
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
}
