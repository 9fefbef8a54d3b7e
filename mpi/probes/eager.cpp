// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket-eager: finds by its effect the largest message that this MPI sends without asking the receiver first (its
// eager limit). A send of such a message completes although the receiver has not called MPI_Recv; a larger one waits
// (rendezvous). Bisection over what completes, as in [Degomme17], finds it where times are too noisy to show it.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "common/backoff.hpp"
#include "common/errors.hpp"
#include "hocket/base/json_writer.hpp"
#include "probes/measuring.hpp"

namespace {

using hocket::now_s;

constexpr int granularity_bytes = 1024;
constexpr int most_bytes = 1 << 20;
constexpr double eager_limit_s = 0.1;  // a send that takes longer waits for its receiver, not for its core
constexpr int data_tag = 1, next_tag = 2;

/// Sends `bytes` to `peer`, which receives only afterwards; then waits for both.
bool completes_alone(std::vector<char>& buffer, int bytes, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(buffer.data(), bytes, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, &request);
    hocket::Backoff backoff;
    int done = 0;
    for (const double end_s = now_s() + eager_limit_s; done == 0 && now_s() < end_s;) {
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0) backoff.pause();
    }
    PMPI_Send(&bytes, 1, MPI_INT, peer, next_tag, MPI_COMM_WORLD);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    PMPI_Recv(nullptr, 0, MPI_CHAR, peer, next_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return done != 0;
}

void receive_all(std::vector<char>& buffer) {
    for (int bytes = 0;;) {
        PMPI_Recv(&bytes, 1, MPI_INT, 0, next_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (bytes < 0) return;
        PMPI_Recv(buffer.data(), bytes, MPI_CHAR, 0, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        PMPI_Send(nullptr, 0, MPI_CHAR, 0, next_tag, MPI_COMM_WORLD);
    }
}

/// The largest multiple of the granularity that completes; at most `most_bytes`.
int find_limit(std::vector<char>& buffer, int peer) {
    completes_alone(buffer, 1, peer);  // connects
    int completes = 0, waits = most_bytes / granularity_bytes + 1;
    while (waits - completes > 1) {
        const int middle = completes + (waits - completes) / 2;
        (completes_alone(buffer, middle * granularity_bytes, peer) ? completes : waits) = middle;
    }
    const int end = -1;
    PMPI_Send(&end, 1, MPI_INT, peer, next_tag, MPI_COMM_WORLD);
    return completes * granularity_bytes;
}

/// On all ranks; rank 0 prints the result.
void run(int rank) {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm same_host = MPI_COMM_NULL;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &same_host);
    int neighbours = 0;
    PMPI_Comm_size(same_host, &neighbours);
    PMPI_Comm_free(&same_host);
    std::vector<char> buffer(most_bytes);
    // Where several hosts are used, the last rank is on another one than the first. Through shared memory a message
    // that waits for its receiver stalls no network.
    PMPI_Bcast(&neighbours, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const int peer = neighbours < ranks ? ranks - 1 : 0;
    if (rank == 0) {
        hocket::base::JsonWriter json;
        json.begin_object();
        json.field("format", "hocket.eager/1");
        json.field("eager_bytes", peer > 0 ? std::optional(find_limit(buffer, peer)) : std::nullopt);
        json.end_object();
        std::puts(json.text().c_str());
    } else if (rank == peer) {
        receive_all(buffer);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (PMPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    const int status = hocket::run_reporting_errors([](int rank) {
        run(rank);
        return 0;
    });
    PMPI_Finalize();
    return status;
}
