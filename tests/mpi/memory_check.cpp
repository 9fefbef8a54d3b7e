// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Memory that fails in the middle of a collective, at each place in turn. Rank 1 only receives, so that nobody waits
// for it. Linked before the C library, malloc and aligned_alloc of this program are those that libhocket.so calls.

#include <dlfcn.h>
#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "hocket.h"

namespace {

const void* hocket_base = nullptr;
long long left_until_failure = -1;

bool fails(const void* caller) {
    if (left_until_failure < 0 || hocket_base == nullptr) return false;
    Dl_info info{};
    if (dladdr(caller, &info) == 0 || info.dli_fbase != hocket_base) return false;
    return left_until_failure-- == 0;
}

}  // namespace

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void* malloc(std::size_t bytes) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&hocket_operation_execute), &info);
    hocket_communicator* ours = nullptr;
    hocket_communicator_create(MPI_COMM_WORLD, &ours);
    constexpr int elements = 1600, segments = 80;  // too many messages to have an order known beforehand
    int num_failed = 0, num_wrong = 0, again = 1;
    for (const char* collective : {"bcast", "reduce"}) {
        const bool reduces = std::strcmp(collective, "reduce") == 0;
        const int root = reduces ? 1 : 0;  // rank 1 receives
        again = 1;
        for (long long place = 0; again != 0; ++place) {
            // An operation that has never run has all its memory still to get.
            hocket_schedule_parameters what = {sizeof what, collective, "pipelined_chain", root,
                                               segments,    nullptr,    nullptr,           0};
            hocket_operation* operation = nullptr;
            if (hocket_operation_create(ours, &what, &operation) != HOCKET_OK) return 1;
            for (int call = 0; call < 3; ++call) {
                std::vector<int> mine(elements), result(elements, -1);
                std::iota(mine.begin(), mine.end(), 100 * call + static_cast<int>(place));
                if (!reduces && rank == 0) result = mine;
                hocket_operation_arguments with = {sizeof with,   mine.data(), elements, MPI_INT,
                                                   result.data(), elements,    MPI_INT,  MPI_SUM};
                hocket_base = info.dli_fbase;
                left_until_failure = call == 0 && rank == 1 ? place : -1;
                const hocket_status status = hocket_operation_execute(operation, &with);
                if (call == 0) again = status == HOCKET_ERROR_MEMORY ? 1 : 0;
                left_until_failure = -1;
                num_failed += status == HOCKET_ERROR_MEMORY ? 1 : 0;
                if (status == HOCKET_ERROR_MEMORY && call == 0) continue;
                if (status != HOCKET_OK) ++num_wrong;
                if (rank != 1) continue;
                for (int i = 0; i < elements; ++i) {
                    const int expected = mine[static_cast<std::size_t>(i)] * (reduces ? 2 : 1);
                    num_wrong += result[static_cast<std::size_t>(i)] != expected ? 1 : 0;
                }
            }
            hocket_operation_free(operation);
            MPI_Bcast(&again, 1, MPI_INT, 1, MPI_COMM_WORLD);
        }
    }
    hocket_communicator_free(ours);
    if (rank == 1) std::printf("%d failed, %d wrong\n", num_failed, num_wrong);
    MPI_Finalize();
    return 0;
}
