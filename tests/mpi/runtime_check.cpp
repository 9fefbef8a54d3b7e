// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Every algorithm, through the C interface, against the MPI's own collective. Arguments: seed, calls for each
// combination.

#include "calls.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "hocket.h"

namespace {

Kind kind_of(const std::string& name) {
    int kind = 0;
    while (kind < num_kinds && name != kind_names[kind]) ++kind;
    return static_cast<Kind>(kind);
}

long long num_run = 0, num_refused = 0, num_wrong = 0;

void fail(const std::string& what, const Call& call) {
    ++num_wrong;
    std::printf("WRONG %s: %s: %s\n", what.c_str(), call.description.c_str(), hocket_last_error());
    std::fflush(stdout);
}

void check(hocket_communicator* ours, MPI_Comm comm, const char* collective, const char* algorithm, int segments,
           std::mt19937& shared, int root, int num_calls, const Types& types, const Native& native) {
    int size;
    MPI_Comm_size(comm, &size);
    const Kind kind = kind_of(collective);
    std::vector<int> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    const bool ordered = shared() % 3 == 0;
    if (!ordered) std::shuffle(order.begin(), order.end(), shared);
    std::vector<int> starts;
    if (algorithm == std::string("uneven_ring"))
        for (int position = 0; position < size; ++position)
            if (shared() % 2 == 0) starts.push_back(position);
    hocket_schedule_parameters what = {sizeof what,
                                       collective,
                                       algorithm,
                                       root,
                                       segments,
                                       ordered ? nullptr : order.data(),
                                       starts.empty() ? nullptr : starts.data(),
                                       static_cast<int>(starts.size())};
    hocket_operation* operation = nullptr;
    const std::string place = std::string(algorithm) + ", " + std::to_string(segments) + " segments, " +
                              (ordered ? "in order" : "shuffled") + ", " + std::to_string(starts.size()) + " starts";
    if (hocket_operation_create(ours, &what, &operation) != HOCKET_OK) return fail(place, Call{});
    for (int i = 0; i < num_calls; ++i) {
        Call call = make_call(kind, shared, types, comm, root);
        Call twin = twin_of(call);
        if (invoke_oracle(native, twin, types, comm) != MPI_SUCCESS) fail("native", call);
        hocket_operation_arguments with = {sizeof with,       call.send.address, call.send.count, call.send.type,
                                           call.recv.address, call.recv.count,   call.recv.type,  call.op};
        const hocket_status status = hocket_operation_execute(operation, &with);
        ++num_run;
        if (status == HOCKET_ERROR_ORDER) {
            ++num_refused;
        } else if (status != HOCKET_OK || !same_result(call, twin, comm)) {
            fail(place, call);
        }
    }
    hocket_operation_free(operation);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
    const int num_calls = argc > 2 ? std::atoi(argv[2]) : 3;
    {
        const Native native;
        const Types types;
        const Communicators communicators;
        int num_world;
        MPI_Comm_size(MPI_COMM_WORLD, &num_world);
        for (int c = 0; c < 3; ++c) {
            const MPI_Comm comm = communicators.all[c];
            int size, color;
            MPI_Comm_size(comm, &size);
            MPI_Comm_rank(MPI_COMM_WORLD, &color);
            std::mt19937 shared(seed * 8 + static_cast<unsigned>(c == 2 ? 2 + color % 2 : c));
            hocket_communicator* ours = nullptr;
            if (hocket_communicator_create(comm, &ours) != HOCKET_OK) MPI_Abort(MPI_COMM_WORLD, 1);
            const char* collective = nullptr;
            for (std::size_t a = 0; const char* algorithm = hocket_algorithm_get(a, &collective); ++a) {
                for (const int segments : {1, 3, 8}) {
                    // Many ranks on few cores are slow: then each communicator takes its own number of segments.
                    if (num_world > 4 && segments != std::array{1, 3, 8}[static_cast<std::size_t>(c)]) continue;
                    const int last_root = is_rooted(kind_of(collective)) && segments == 3 ? size - 1 : 0;
                    for (int root = 0; root <= last_root; ++root) {
                        check(ours, comm, collective, algorithm, segments, shared, root, num_calls, types, native);
                    }
                }
            }
            hocket_communicator_free(ours);
        }
    }
    long long mine[3] = {num_run, num_refused, num_wrong}, all[3];
    PMPI_Reduce(mine, all, 3, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("seed %u: %lld calls, %lld refused, %lld wrong\n", seed, all[0], all[1], all[2]);
    MPI_Finalize();
    return 0;
}
