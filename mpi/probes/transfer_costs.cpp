// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What a message costs a core is CPU time, not elapsed time: on the wire it may be slow for other reasons. Both ends
// sleep between polls, so that they have nothing else to do than to move the message, and what the polls cost is known
// and taken off.

#include "probes/transfer_costs.hpp"

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "probes/measuring.hpp"

namespace hocket::probes {

namespace {

constexpr int small_bytes = 8, num_small = 8;
constexpr int large_bytes = 1 << 20;
constexpr int num_reduced = 1 << 19;  // doubles: more than the caches near the core hold
constexpr int repetitions = 3;        // the least of them counts
constexpr int tag = 1;
constexpr timespec until_arrived{0, 3'000'000};
constexpr timespec between_polls{0, 1'000'000};  // long against a poll, short against what socket buffers hold

/// Of all threads: some MPIs move messages in one of their own.
double cpu_s() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void meet() {
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    wait_aside(request);
}

/// The number of polls.
int wait_asleep(MPI_Request& request) {
    for (int polls = 1;; ++polls) {
        nanosleep(&between_polls, nullptr);
        int done = 0;
        require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return polls;
    }
}

/// CPU time of one poll that finds nothing, with the sleep before it.
double poll_s(int peer) {
    constexpr int polls = 20;
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Irecv(nullptr, 0, MPI_CHAR, peer, tag + 1, MPI_COMM_WORLD, &request), "MPI_Irecv");
    const double begin_s = cpu_s();
    for (int i = 0; i < polls; ++i) {
        nanosleep(&between_polls, nullptr);
        int done = 0;
        require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
    const double taken_s = (cpu_s() - begin_s) / polls;
    require(PMPI_Send(nullptr, 0, MPI_CHAR, peer, tag + 1, MPI_COMM_WORLD), "MPI_Send");
    require(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return taken_s;
}

/// CPU time of this end of one small message after another. The target takes each when it has surely arrived, as
/// [Hoefler07] does.
double small_message_s(bool sends, int peer, std::vector<char>& buffer) {
    double least_s = 0;
    for (int i = 0; i < num_small; ++i) {
        if (sends) {
            require(PMPI_Recv(nullptr, 0, MPI_CHAR, peer, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
        } else {
            require(PMPI_Send(nullptr, 0, MPI_CHAR, peer, tag + 1, MPI_COMM_WORLD), "MPI_Send");
            nanosleep(&until_arrived, nullptr);
        }
        const double begin_s = cpu_s();
        require(sends ? PMPI_Send(buffer.data(), small_bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD)
                      : PMPI_Recv(buffer.data(), small_bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                "a small message");
        const double taken_s = cpu_s() - begin_s;
        least_s = i == 0 ? taken_s : std::min(least_s, taken_s);
    }
    return least_s;
}

/// CPU time of this end of one large message.
double large_message_s(bool sends, int peer, std::vector<char>& buffer, double of_poll_s) {
    MPI_Request request = MPI_REQUEST_NULL;
    const double begin_s = cpu_s();
    require(sends ? PMPI_Isend(buffer.data(), large_bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD, &request)
                  : PMPI_Irecv(buffer.data(), large_bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD, &request),
            "a large message");
    const int polls = wait_asleep(request);
    return std::max(0.0, cpu_s() - begin_s - polls * of_poll_s);
}

double reduce_bytes_per_s() {
    std::vector<double> in(num_reduced, 1.0), inout(num_reduced, 2.0);
    double least_s = 0;
    for (int i = 0; i <= repetitions; ++i) {
        const double begin_s = cpu_s();
        require(PMPI_Reduce_local(in.data(), inout.data(), num_reduced, MPI_DOUBLE, MPI_SUM), "MPI_Reduce_local");
        const double taken_s = cpu_s() - begin_s;
        if (i == 1 || (i > 1 && taken_s < least_s)) least_s = taken_s;  // the first warms up
    }
    return least_s > 0 ? num_reduced * sizeof(double) / least_s : 0;
}

}  // namespace

CoreCosts measure_core_costs(int source, int target, int rank) {
    const bool sends = rank == source;
    const int peer = sends ? target : source;
    const bool takes_part = sends || rank == target;
    std::vector<char> buffer(takes_part ? large_bytes : 0, 'h');
    double small_s = 0, large_s = 0;
    for (int i = -1; i < repetitions; ++i) {  // the first warms up
        meet();
        if (!takes_part) continue;
        const double small = small_message_s(sends, peer, buffer);
        const double large = large_message_s(sends, peer, buffer, poll_s(peer));
        if (i < 0) continue;
        small_s = i == 0 ? small : std::min(small_s, small);
        large_s = i == 0 ? large : std::min(large_s, large);
    }
    meet();
    CoreCosts own;
    if (takes_part) {
        const double per_byte = std::max(0.0, large_s - small_s) / large_bytes;
        (sends ? own.send_s : own.receive_s) = small_s;
        (sends ? own.send_s_per_byte : own.receive_s_per_byte) = per_byte;
        if (sends) own.reduce_bytes_per_s = reduce_bytes_per_s();
    }
    const auto mine = own.values();
    auto all = mine;
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Ireduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD,
                         &request),
            "MPI_Ireduce");
    wait_aside(request);
    return {all[0], all[1], all[2], all[3], all[4]};
}

}  // namespace hocket::probes
