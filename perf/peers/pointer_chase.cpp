// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What a load costs whose address the load before has given: pointer_chase BYTES huge|small prints the nanoseconds of
// one on a random cycle through all cache lines of so many bytes, in huge or in small pages. User CPU time, least of
// five.

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {
struct alignas(64) Line {
    const Line* next;
};

double user_ns() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return 1e9 * static_cast<double>(usage.ru_utime.tv_sec) + 1e3 * static_cast<double>(usage.ru_utime.tv_usec);
}
}  // namespace

int main(int argc, char** argv) {
    const std::size_t bytes = argc == 3 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const bool huge = argc == 3 && std::strcmp(argv[2], "huge") == 0;
    if (bytes < 2 * sizeof(Line) || (!huge && std::strcmp(argv[2], "small") != 0)) {
        std::fprintf(stderr, "usage: pointer_chase BYTES huge|small\n");
        return 2;
    }
    constexpr std::size_t huge_page = std::size_t{2} << 20U;
    const std::size_t count = bytes / sizeof(Line), room = (bytes / huge_page + 1) * huge_page;
    void* const memory = std::aligned_alloc(huge_page, room);
    if (memory == nullptr) return 1;
    madvise(memory, room, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    auto* const lines = static_cast<Line*>(memory);
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i < count; ++i) lines[order[i]].next = &lines[order[(i + 1) % count]];
    const std::size_t steps = std::max<std::size_t>(std::size_t{4} << 20U, 2 * count);
    const Line* at = lines;
    double least_ns = 1e99;
    for (int round = 0; round < 5; ++round) {
        const double start_ns = user_ns();
        for (std::size_t i = 0; i < steps; ++i) at = at->next;
        least_ns = std::min(least_ns, user_ns() - start_ns);
    }
    std::printf("%.2f\n", least_ns / static_cast<double>(steps));
    return at == nullptr;
}
