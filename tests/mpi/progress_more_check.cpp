// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A program that knows nothing of hocket: `progress_more_check SCENARIO SEED ROUNDS`. Rank 0 prints "wrong N" at the
// end.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "progress_calls.hpp"

namespace {

int rank, size;

/// The functions whose counts are MPI_Count, all in flight with messages.
int large_counts(unsigned seed, int rounds) {
    int wrong = 0;
#if MPI_VERSION >= 4
    std::mt19937 shared(seed), own(seed + 1000U * static_cast<unsigned>(rank + 1));
    const auto num = static_cast<std::size_t>(size);
    for (int round = 0; round < rounds; ++round) {
        const std::size_t block = shared() % 4000;
        const auto count = static_cast<MPI_Count>(block);
        std::vector<MPI_Count> counts(num, count);
        std::vector<MPI_Aint> places(num), bytes(num);
        for (std::size_t i = 0; i < num; ++i) {
            places[i] = static_cast<MPI_Aint>(i * block);
            bytes[i] = places[i] * static_cast<MPI_Aint>(sizeof(int));
        }
        const std::vector<MPI_Datatype> types(num, MPI_INT);
        std::vector<int> from(num * block, rank + round);
        std::deque<std::vector<int>> to(9, std::vector<int>(num * block, -1));
        if (rank == 0) to[0] = from;
        std::vector<MPI_Request> all(10);
        MPI_Request* next = all.data();
        int* const out = from.data();
        const MPI_Comm comm = MPI_COMM_WORLD;
        wrong += MPI_Ibcast_c(to[0].data(), count, MPI_INT, 0, comm, next++);
        wrong += MPI_Iallreduce_c(out, to[1].data(), count, MPI_INT, MPI_MAX, comm, next++);
        wrong += MPI_Ialltoall_c(out, count, MPI_INT, to[2].data(), count, MPI_INT, comm, next++);
        wrong += MPI_Ialltoallv_c(out, counts.data(), places.data(), MPI_INT, to[3].data(), counts.data(),
                                  places.data(), MPI_INT, comm, next++);
        wrong += MPI_Ialltoallw_c(out, counts.data(), bytes.data(), types.data(), to[4].data(), counts.data(),
                                  bytes.data(), types.data(), comm, next++);
        wrong +=
            MPI_Iallgatherv_c(out, count, MPI_INT, to[5].data(), counts.data(), places.data(), MPI_INT, comm, next++);
        wrong += MPI_Ireduce_scatter_c(out, to[6].data(), counts.data(), MPI_INT, MPI_MAX, comm, next++);
        wrong += MPI_Iscan_c(out, to[7].data(), count, MPI_INT, MPI_MAX, comm, next++);
        wrong += MPI_Irecv_c(to[8].data(), count, MPI_INT, (rank + size - 1) % size, 0, comm, next++);
        wrong += MPI_Isend_c(out, count, MPI_INT, (rank + 1) % size, 0, comm, next++);
        if (own() % 2 == 0) usleep(static_cast<unsigned>(own() % 2000));
        wrong += complete(all, own(), own);
        const auto check = [&](std::size_t which, std::size_t blocks, auto expected) {
            for (std::size_t i = 0; i < to[which].size(); ++i)
                wrong += to[which][i] != (i < blocks * block ? expected(static_cast<int>(i / block)) + round : -1);
        };
        if (rank != 0) check(0, 1, [](int) { return 0; });
        check(1, 1, [](int) { return size - 1; });
        for (const std::size_t i : {2, 3, 4, 5}) check(i, num, [](int sender) { return sender; });
        check(6, 1, [](int) { return size - 1; });
        check(7, 1, [](int) { return rank; });
        check(8, 1, [](int) { return (rank + size - 1) % size; });
    }
#else
    (void)seed, (void)rounds;
#endif
    return wrong;
}

std::atomic<int> num_beside{0};  ///< operators that ran in another thread than the program's
std::thread::id program;

/// 2x2 matrices: the order matters.
void multiply(void* left, void* right, int* count, MPI_Datatype*) {
    if (std::this_thread::get_id() != program) num_beside.fetch_add(1);
    const auto* a = static_cast<const std::uint64_t*>(left);
    auto* b = static_cast<std::uint64_t*>(right);
    for (int i = 0; i < *count; ++i, a += 4, b += 4) {
        const std::array<std::uint64_t, 4> c{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                             a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        std::copy(c.begin(), c.end(), b);
    }
}
void add(void* left, void* right, int* count, MPI_Datatype*) {
    if (std::this_thread::get_id() != program) num_beside.fetch_add(1);
    for (int i = 0; i < 4 * *count; ++i)
        static_cast<std::uint64_t*>(right)[i] += static_cast<const std::uint64_t*>(left)[i];
}

int operators(unsigned seed, int rounds, int level) {
    std::mt19937 shared(seed), own(seed + 1000U * static_cast<unsigned>(rank + 1));
    MPI_Datatype matrix;
    MPI_Type_contiguous(4, MPI_UINT64_T, &matrix);
    MPI_Type_commit(&matrix);
    std::array<MPI_Op, 2> ops{};
    MPI_Op_create(multiply, 0, &ops[0]);
    MPI_Op_create(add, 1, &ops[1]);
    program = std::this_thread::get_id();
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t num = shared() % 800;
        const int count = static_cast<int>(num), root = static_cast<int>(shared() % static_cast<unsigned>(size));
        std::vector<std::uint64_t> from(4 * num);
        for (std::uint64_t& value : from) value = own() % 100;
        std::deque<std::vector<std::uint64_t>> to(6, std::vector<std::uint64_t>(4 * num)), expected = to;
        std::vector<MPI_Request> requests(7);
        Collective other(alltoall, MPI_COMM_WORLD, shared, 5000);
        other.start(&requests[6]);
        for (std::size_t k = 0; k < 2; ++k) {
            MPI_Request* const next = &requests[3 * k];
            const auto at = [&](std::size_t i) { return to[3 * k + i].data(); };
            const auto wanted = [&](std::size_t i) { return expected[3 * k + i].data(); };
            MPI_Iallreduce(from.data(), at(0), count, matrix, ops[k], MPI_COMM_WORLD, next);
            MPI_Ireduce(from.data(), at(1), count, matrix, ops[k], root, MPI_COMM_WORLD, next + 1);
            MPI_Iscan(from.data(), at(2), count, matrix, ops[k], MPI_COMM_WORLD, next + 2);
            MPI_Allreduce(from.data(), wanted(0), count, matrix, ops[k], MPI_COMM_WORLD);
            MPI_Reduce(from.data(), wanted(1), count, matrix, ops[k], root, MPI_COMM_WORLD);
            MPI_Scan(from.data(), wanted(2), count, matrix, ops[k], MPI_COMM_WORLD);
        }
        if (own() % 2 == 0) usleep(static_cast<unsigned>(own() % 2000));
        wrong += complete(requests, own(), own) + !other.is_right();
        for (std::size_t i = 0; i < to.size(); ++i) wrong += to[i] != expected[i] && (i % 3 != 1 || rank == root);
    }
    if (level == MPI_THREAD_SINGLE) wrong += num_beside.load();
    if (level == MPI_THREAD_SINGLE && num_beside.load() > 0) std::printf("beside %d\n", num_beside.load());
    for (MPI_Op& op : ops) MPI_Op_free(&op);
    MPI_Type_free(&matrix);
    return wrong;
}

/// Collectives of neighbours beside others, on a ring and on a grid.
int neighbours(unsigned seed, int rounds) {
    std::mt19937 shared(seed), own(seed + 1000U * static_cast<unsigned>(rank + 1));
    int wrong = 0;
    for (int num_dimensions = 1; num_dimensions <= 2; ++num_dimensions) {
        std::array<int, 2> dimensions{};
        MPI_Dims_create(size, num_dimensions, dimensions.data());
        // Open MPI's blocking and non-blocking functions differ where both neighbours of a dimension are one rank.
        const std::array<int, 2> periods{dimensions[0] > 2, 0};
        MPI_Comm grid;
        MPI_Cart_create(MPI_COMM_WORLD, num_dimensions, dimensions.data(), periods.data(), 0, &grid);
        const auto num = static_cast<std::size_t>(2 * num_dimensions);
        for (int round = 0; round < rounds; ++round) {
            const int block = static_cast<int>(shared() % 3000);
            std::vector<int> counts(num, block), places(num), from(num * static_cast<std::size_t>(block));
            for (std::size_t i = 0; i < num; ++i) places[i] = static_cast<int>(i) * block;
            for (std::size_t i = 0; i < from.size(); ++i) from[i] = 100000 * rank + static_cast<int>(i) + round;
            std::deque<std::vector<int>> to(3, std::vector<int>(from.size(), -1)), expected = to;
            std::vector<MPI_Request> requests(4);
            const int *const f = from.data(), *const c = counts.data(), *const p = places.data();
            MPI_Ineighbor_allgather(f, block, MPI_INT, to[0].data(), block, MPI_INT, grid, &requests[0]);
            MPI_Ineighbor_alltoall(f, block, MPI_INT, to[1].data(), block, MPI_INT, grid, &requests[1]);
            MPI_Ineighbor_alltoallv(f, c, p, MPI_INT, to[2].data(), c, p, MPI_INT, grid, &requests[2]);
            Collective other(alltoall, grid, shared, 1000);
            other.start(&requests[3]);
            MPI_Neighbor_allgather(f, block, MPI_INT, expected[0].data(), block, MPI_INT, grid);
            MPI_Neighbor_alltoall(f, block, MPI_INT, expected[1].data(), block, MPI_INT, grid);
            MPI_Neighbor_alltoallv(f, c, p, MPI_INT, expected[2].data(), c, p, MPI_INT, grid);
            if (own() % 2 == 0) usleep(static_cast<unsigned>(own() % 2000));
            wrong += complete(requests, own(), own) + !other.is_right();
            for (std::size_t i = 0; i < to.size(); ++i) wrong += to[i] != expected[i];
        }
        MPI_Comm_free(&grid);
    }
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string scenario = argc > 1 ? argv[1] : "";
    const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 10;
    int level = MPI_THREAD_SINGLE;
    if (scenario == "operators-multiple") {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = 0, all = 0;
    if (scenario == "large") {
        wrong = large_counts(seed, rounds);
    } else if (scenario == "operators" || scenario == "operators-multiple") {
        wrong = operators(seed, rounds, level);
    } else if (scenario == "neighbours") {
        wrong = neighbours(seed, rounds);
    } else {
        ++wrong;
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s seed %u: wrong %d\n", scenario.c_str(), seed, all);
    MPI_Finalize();
    return 0;
}
