// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Requests of every algorithm and of the MPI's own functions, many in flight, under one engine, against the MPI's own
// collectives. Arguments: seed, engine, rounds.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "calls.hpp"
#include "hocket.h"
#include "request_uses.hpp"

namespace {

/// MPICH 4.0.2 crashes in its own functions with other types and in reduce in place: see calls.hpp.
bool suits_native(Call& call) {
    int variety = 0;
    std::sscanf(std::strstr(call.description.c_str(), "variety"), "variety %d", &variety);
    if (variety > (is_reduction(call.kind) ? 4 : 1)) return false;
    if (call.kind == reduce && call.send.address == MPI_IN_PLACE) call.send.address = call.send_memory.data() + 64;
    return true;
}

struct Flight {
    Call call, twin;
    std::string what;
    hocket_request* request = nullptr;
    MPI_Datatype freed = MPI_DATATYPE_NULL;
};

void round(MPI_Comm comm, Operations& operations, hocket_engine* engine, const std::vector<Algorithm>& algorithms,
           std::mt19937& shared, std::mt19937& own, const Types& types, const Native& native) {
    int size;
    MPI_Comm_size(comm, &size);
    std::deque<Flight> flights(1 + shared() % 16);
    if (own() % 16 == 0) usleep(own() % 20000);
    for (Flight& flight : flights) {
        const Algorithm& algorithm = algorithms[shared() % algorithms.size()];
        const Kind kind = kind_of(algorithm.collective);
        const int root = is_rooted(kind) && shared() % 2 == 0 ? size - 1 : 0;
        const bool is_native = algorithm.name == "native";
        const int segments = std::array{1, 3, 8}[shared() % 3];
        do {
            flight.call = make_call(kind, shared, types, comm, root);
            // Where it lies matters: the copy has its own memory.
            if (flight.call.send.address != MPI_IN_PLACE)
                flight.call.send.address = flight.call.send_memory.data() + 64;
            if (flight.call.recv.address != MPI_IN_PLACE)
                flight.call.recv.address = flight.call.recv_memory.data() + 64;
        } while (is_native && !suits_native(flight.call));
        flight.twin = twin_of(flight.call);
        flight.what = algorithm.name + ", " + std::to_string(segments) + " segments, " + flight.call.description;
        hocket_operation* const operation = operations.get(algorithm, root, segments);
        hocket_operation_arguments with = arguments_of(flight.call);
        hocket_status status = HOCKET_OK;
        ++num_run;
        if (shared() % 8 == 0) {
            status = hocket_operation_execute(operation, &with);
        } else {
            MPI_Datatype* const type = own() % 2 == 0 && !is_reduction(kind) && !is_native ? &with.recv_type : nullptr;
            if (type != nullptr) {  // freed while the call is under way
                MPI_Type_dup(*type, type);
                flight.freed = *type;
            }
            status = hocket_operation_start(operation, &with, engine, &flight.request);
            if (type != nullptr) MPI_Type_free(&flight.freed);
        }
        if (status == HOCKET_ERROR_ORDER) {
            ++num_refused;
            flight.what.clear();
        } else if (status != HOCKET_OK) {
            fail(flight.what);
        }
        if (own() % 4 == 0) hocket_progress(engine);
        Flight& any = flights[own() % flights.size()];
        int done = 0;
        if (any.request != nullptr && own() % 4 == 0 && hocket_request_test(any.request, &done) != HOCKET_OK)
            fail(any.what);
        if (any.request != nullptr && own() % 16 == 0 && hocket_request_wait(any.request) != HOCKET_OK) fail(any.what);
    }
    if (own() % 16 == 0) usleep(own() % 20000);
    std::vector<Flight*> order;
    for (Flight& flight : flights) order.push_back(&flight);
    std::shuffle(order.begin(), order.end(), own);
    const unsigned way = own() % 3;
    if (way == 0) {
        std::vector<hocket_request*> requests;
        for (Flight* flight : order) requests.push_back(flight->request);
        expect(hocket_request_wait_all(static_cast<int>(requests.size()), requests.data()) == HOCKET_OK, "wait_all");
    }
    for (Flight* flight : order) {
        for (int done = 0; way == 1 && flight->request != nullptr && done == 0;)
            if (hocket_request_test(flight->request, &done) != HOCKET_OK) fail(flight->what);
        if (way == 2 && own() % 4 != 0 && flight->request != nullptr &&
            hocket_request_wait(flight->request) != HOCKET_OK)
            fail(flight->what);
        if (hocket_request_free(flight->request) != HOCKET_OK) fail(flight->what);
    }
    for (Flight& flight : flights) {
        if (invoke_oracle(native, flight.twin, types, comm) != MPI_SUCCESS) fail("native");
        if (!flight.what.empty() && !same_result(flight.call, flight.twin, comm)) fail(flight.what);
    }
}

void misuse(MPI_Comm comm, Operations& operations, hocket_engine* engine) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int one = 1, sum = 0, done = 0;
    hocket_operation* const allreduce = operations.get({"allreduce", "recursive_doubling"}, 0, 1);
    const hocket_operation_arguments with = {sizeof with, &one, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM};
    hocket_request* request = nullptr;
    expect(hocket_request_create(allreduce, &with, engine, nullptr) == HOCKET_ERROR_INVALID, "no place for it");
    expect(hocket_request_create(allreduce, &with, engine, &request) == HOCKET_OK, "create");
    if (rank == size - 1) usleep(300000);  // the others wait for this rank
    expect(hocket_request_start(request) == HOCKET_OK, "start");
    if (rank == 0 && size > 1)
        expect(hocket_request_start(request) == HOCKET_ERROR_INVALID, "a pending request started again");
    expect(hocket_finalize() == HOCKET_OK, "finalize");
    expect(hocket_request_test(request, &done) == HOCKET_OK && done == 1 && sum == size, "finalize drains");
    expect(hocket_request_free(request) == HOCKET_OK, "free");
    expect(hocket_request_free(nullptr) == HOCKET_OK && hocket_engine_free(nullptr) == HOCKET_OK, "NULL is freed");
    expect(hocket_request_wait_all(1, nullptr) == HOCKET_ERROR_INVALID, "no requests");
    hocket_engine* none = nullptr;
    const hocket_engine_parameters unknown = {sizeof unknown, "magic", HOCKET_CORE_ANY, 0};
    expect(hocket_engine_create(&unknown, &none) == HOCKET_ERROR_INVALID, "an engine of an unknown kind");
    const hocket_engine_parameters negative = {sizeof negative, "function", HOCKET_CORE_ANY, -1};
    expect(hocket_engine_create(&negative, &none) == HOCKET_ERROR_INVALID, "a negative capacity");
}

}  // namespace

int main(int argc, char** argv) {
    const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
    const std::string kind = argc > 2 ? argv[2] : "function";
    const int num_rounds = argc > 3 ? std::atoi(argv[3]) : 10;
    int level = MPI_THREAD_SINGLE, rank;
    const int wanted = kind == "function" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hocket_engine* engine = nullptr;
    if (kind == "function" && level < MPI_THREAD_MULTIPLE) {
        const hocket_engine_parameters threaded = {sizeof threaded, "thread", HOCKET_CORE_ANY, 0};
        expect(hocket_engine_create(&threaded, &engine) == HOCKET_ERROR_THREAD_LEVEL, "a thread engine below MULTIPLE");
    }
    // Fewer than are in flight, so that starts wait.
    const hocket_engine_parameters how = {sizeof how, kind.c_str(), seed % 2 == 0 ? HOCKET_CORE_ANY : HOCKET_CORE_IDLE,
                                          seed % 3 == 0 ? 5 : 0};
    if (level < wanted || hocket_engine_create(&how, &engine) != HOCKET_OK) {
        std::printf("WRONG %s\n", hocket_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    {
        const Native native;
        const Types types;
        const Communicators communicators;
        const std::vector<Algorithm> algorithms = all_algorithms();
        std::mt19937 own(seed * 64 + static_cast<unsigned>(rank));
        for (int c = 0; c < 3; ++c) {
            const MPI_Comm comm = communicators.all[c];
            std::mt19937 shared(seed * 8 + static_cast<unsigned>(c == 2 ? 2 + rank % 2 : c));
            Operations operations(comm);
            if (c == 0) misuse(comm, operations, engine);
            execute_beside_pending(comm, engine);
            for (int i = 0; i < num_rounds; ++i)
                round(comm, operations, engine, algorithms, shared, own, types, native);
            restart(comm, operations, engine, 20);
            for (int i = 0; i < 5; ++i) blocks(comm, operations, engine, shared);
            together(comm, operations, engine, shared, 20);
            select(comm, operations, engine, kind == "queue", 1 + static_cast<std::size_t>(c), 300);
            fill(comm, operations, kind);
            restart_selected(operations);
        }
    }
    expect(hocket_engine_free(engine) == HOCKET_OK, "engine_free");
    long long mine[3] = {num_run, num_refused, num_wrong}, all[3];
    PMPI_Reduce(mine, all, 3, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("seed %u, %s: %lld calls, %lld refused, %lld wrong\n", seed, kind.c_str(), all[0], all[1], all[2]);
    MPI_Finalize();
    return 0;
}
