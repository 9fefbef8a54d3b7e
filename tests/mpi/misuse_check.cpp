// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Calls of hocket.h that are wrong: each is refused, those of the other ranks and the ones that follow are as they
// should be.

#include <cstring>
#include <vector>

#include "request_uses.hpp"

namespace {

constexpr int no_core = 1000000;
int rank, size;

bool is_refused(hocket_status status, const char* word) {
    return status == HOCKET_ERROR_INVALID && std::strstr(hocket_last_error(), word) != nullptr;
}

void engines() {
    for (const char* kind : {"thread", "spin", "queue"}) {
        const hocket_engine_parameters how = {sizeof how, kind, no_core, 0};
        hocket_engine* engine = nullptr;
        const hocket_status status = hocket_engine_create(&how, &engine);
        expect(is_refused(status, "core 1000000 cannot be used; accepted: 0"), "a core that is not there");
    }
}

/// Each of the arrays of collectives whose blocks differ left out in turn.
void arrays(Operations& operations, hocket_engine* engine) {
    enum { send_counts = 1, send_displacements = 2, recv_counts = 4, recv_displacements = 8, send_types = 16 };
    constexpr int recv_types = 32, sends = send_counts | send_displacements,
                  receives = recv_counts | recv_displacements;
    const int root = size - 1;
    const bool is_root = rank == root;
    const struct {
        const char* name;
        int needed;
        bool in_place;
    } all[] = {{"allgatherv", receives, false},
               {"alltoallv", sends | receives, false},
               {"alltoallv", receives, true},
               {"alltoallw", sends | receives | send_types | recv_types, false},
               {"alltoallw", receives | recv_types, true},
               {"gatherv", is_root ? receives : 0, false},
               {"scatterv", is_root ? sends : 0, false},
               {"reduce_scatter", recv_counts, false}};
    const std::vector<int> zeros(static_cast<std::size_t>(size));
    const std::vector<MPI_Datatype> types(zeros.size(), MPI_INT);
    int data = 0;
    for (const auto& [name, needed, in_place] : all) {
        for (int left_out = 0; left_out <= recv_types; left_out = left_out == 0 ? 1 : 2 * left_out) {
            const auto given = [&](int which) { return left_out == which ? nullptr : zeros.data(); };
            const void* const from = in_place ? MPI_IN_PLACE : &data;
            const hocket_operation_arguments with = {sizeof with,
                                                     from,
                                                     0,
                                                     MPI_INT,
                                                     &data,
                                                     0,
                                                     MPI_INT,
                                                     MPI_SUM,
                                                     given(send_counts),
                                                     given(send_displacements),
                                                     given(recv_counts),
                                                     given(recv_displacements),
                                                     left_out == send_types ? nullptr : types.data(),
                                                     left_out == recv_types ? nullptr : types.data()};
            hocket_request* request = nullptr;
            const hocket_status status =
                hocket_request_create(operations.get({name, "native"}, root, 1), &with, engine, &request);
            expect((left_out & needed) != 0 ? is_refused(status, "NULL") : status == HOCKET_OK, name);
            if (status == HOCKET_OK) hocket_request_free(request);
        }
    }
}

void no_datatype(Operations& operations, hocket_engine* engine) {
    const std::vector<int> one(static_cast<std::size_t>(size), 1);
    int from[16] = {}, to[16] = {};
    for (const Algorithm& algorithm : {Algorithm{"allreduce", "ring"},
                                       {"reduce", "binomial"},
                                       {"allreduce", "native"},
                                       {"reduce", "native"},
                                       {"reduce_scatter_block", "native"},
                                       {"reduce_scatter", "native"},
                                       {"scan", "native"}}) {
        hocket_operation_arguments with = {sizeof with, from, 1, MPI_DATATYPE_NULL, to, 1, MPI_DATATYPE_NULL, MPI_SUM};
        with.recv_counts = one.data();
        hocket_request* request = nullptr;
        const hocket_status status = hocket_request_create(operations.get(algorithm, 0, 1), &with, engine, &request);
        expect(is_refused(status, "datatype"), algorithm.collective.c_str());
        with = {sizeof with, from, 1, MPI_INT, nullptr, 1, MPI_INT, MPI_SUM};
        if (algorithm.name == "native") continue;
        const auto create = [&] {
            return hocket_request_create(operations.get(algorithm, 0, 1), &with, engine, &request);
        };
        if (algorithm.collective != "reduce") expect(is_refused(create(), "recv_buffer"), "NULL");
        with = {sizeof with, from, 2, MPI_INT, to, 1, MPI_INT, MPI_SUM};
        expect(is_refused(create(), "count"), "two counts");
        with = {sizeof with, from, 1, MPI_INT, to, 1, MPI_FLOAT, MPI_SUM};
        expect(is_refused(create(), "type"), "two datatypes");
    }
}

/// What is sent for a call that the last rank has made wrongly is not taken for that of the next one.
template <class Start>
void one_rank_is_wrong(const char* what, const Start& start) {
    for (int i = 0; i < 40; ++i) {
        int value = rank == 0 ? i : -1;
        const bool is_wrong = i % 4 == 3 && rank == size - 1;
        const hocket_operation_arguments with = {sizeof with, nullptr,           0,       MPI_INT,
                                                 &value,      is_wrong ? -1 : 1, MPI_INT, MPI_OP_NULL};
        hocket_request* request = nullptr;
        const hocket_status status = start(is_wrong && i % 8 == 3 ? nullptr : &with, &request);
        if (is_wrong) {
            expect(status == HOCKET_ERROR_INVALID && request == nullptr, what);
            continue;
        }
        expect(status == HOCKET_OK && hocket_request_wait(request) == HOCKET_OK && value == i, what);
        hocket_request_free(request);
    }
}

void selections(MPI_Comm comm, Operations& operations, hocket_engine* engine) {
    Operations others(comm);
    const hocket_arm arms[] = {{"linear", operations.get({"bcast", "linear"}, 0, 1), engine, 0},
                               {"binomial", others.get({"bcast", "binomial"}, 0, 1), engine, 0}};
    hocket_selection* selection = nullptr;
    expect(hocket_selection_create(operations.communicator(), 2, arms, 1, &selection) == HOCKET_OK, "selection");
    one_rank_is_wrong("selection", [&](const hocket_operation_arguments* with, hocket_request** request) {
        return hocket_selection_start(selection, with, request);
    });
    // One more than it was made for, on one rank.
    for (int i = 0; i < 100; ++i) {
        int values[2] = {rank == 0 ? i : -1, rank == 0 ? i : -1};
        hocket_request* requests[2] = {};
        for (int k = 0; k < 2; ++k) {
            const hocket_operation_arguments with = {sizeof with, nullptr, 0,       MPI_INT,
                                                     &values[k],  1,       MPI_INT, MPI_OP_NULL};
            const hocket_status status = hocket_selection_start(selection, &with, &requests[k]);
            const bool is_late = rank == size - 1;
            expect(status == (is_late && k == 1 ? HOCKET_ERROR_INVALID : HOCKET_OK), "too many in flight");
            if (!is_late) hocket_request_wait(requests[k]);
        }
        expect(hocket_request_wait_all(2, requests) == HOCKET_OK && values[0] == i, "beside too many in flight");
        for (hocket_request* const request : requests) hocket_request_free(request);
    }
    expect(hocket_selection_free(selection) == HOCKET_OK, "selection_free");
}

}  // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::string kind = argc > 1 ? argv[1] : "function";
    hocket_engine* engine = nullptr;
    const hocket_engine_parameters how = {sizeof how, kind.c_str(), HOCKET_CORE_ANY, 0};
    expect(hocket_engine_create(&how, &engine) == HOCKET_OK, "engine_create");
    if (kind != "function") engines();
    {
        Operations operations(MPI_COMM_WORLD);
        arrays(operations, engine);
        no_datatype(operations, engine);
        hocket_operation* const bcast = operations.get({"bcast", "linear"}, 0, 1);
        one_rank_is_wrong("start", [&](const hocket_operation_arguments* with, hocket_request** request) {
            return hocket_operation_start(bcast, with, engine, request);
        });
        selections(MPI_COMM_WORLD, operations, engine);
    }
    expect(hocket_engine_free(engine) == HOCKET_OK, "engine_free");
    long long all = 0;
    MPI_Reduce(&num_wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s: wrong %lld\n", kind.c_str(), all);
    MPI_Finalize();
    return 0;
}
