// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reads the trace of a rank a block at a time: trace_stream FILE prints calls, seconds and the largest resident set.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "hocket/trace/rank_file.hpp"

int main(int argc, char** argv) try {
    if (argc != 2) return 2;
    const auto begin = std::chrono::steady_clock::now();
    long long calls = 0;
    hocket::trace::RankFileStream stream{std::filesystem::path(argv[1])};
    while (stream.next()) calls += static_cast<long long>(stream.part().calls.size());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("%lld calls, end %d, %.2f s, %ld KiB\n", calls, stream.part().end, seconds, used.ru_maxrss);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
