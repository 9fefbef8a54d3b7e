// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Requests of every algorithm and of the MPI's own functions, many in flight, under one engine, against the MPI's own collectives.
// Arguments: seed, engine, rounds.

#include "calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "hocket.h"

namespace {

long long num_run = 0, num_refused = 0, num_wrong = 0;

void fail(const std::string& what) {
    ++num_wrong;
    std::printf("WRONG %s: %s\n", what.c_str(), hocket_last_error());
    std::fflush(stdout);
}
void expect(bool good, const char* what) {
    if (!good) fail(what);
}

Kind kind_of(const std::string& name) {
    int kind = 0;
    while (kind < num_kinds && name != kind_names[kind]) ++kind;
    return static_cast<Kind>(kind);
}

struct Algorithm {
    std::string collective, name;
};

std::vector<Algorithm> all_algorithms() {
    std::vector<Algorithm> all;
    const char* collective = nullptr;
    for (std::size_t a = 0; const char* name = hocket_algorithm_get(a, &collective); ++a)
        all.push_back({collective, name});
    for (const char* kind : kind_names) {
        for (int i = 0; i < 2; ++i) all.push_back({kind, "native"});
    }
    return all;
}

/// The operations made so far on a communicator.
class Operations {
public:
    explicit Operations(MPI_Comm comm) {
        expect(hocket_communicator_create(comm, &communicator_) == HOCKET_OK, "create");
    }
    ~Operations() {
        for (const auto& [key, operation] : made_) hocket_operation_free(operation);
        expect(hocket_communicator_free(communicator_) == HOCKET_OK, "free");
    }
    hocket_operation* get(const Algorithm& algorithm, int root, int pieces) {
        hocket_operation*& operation = made_[{algorithm.collective, algorithm.name, root, pieces}];
        const hocket_schedule_parameters what = {
            sizeof what, algorithm.collective.c_str(), algorithm.name.c_str(), root, pieces, nullptr};
        if (operation == nullptr && hocket_operation_create(communicator_, &what, &operation) != HOCKET_OK)
            fail(algorithm.name);
        return operation;
    }

    [[nodiscard]] hocket_communicator* communicator() const { return communicator_; }

private:
    hocket_communicator* communicator_ = nullptr;
    std::map<std::tuple<std::string, std::string, int, int>, hocket_operation*> made_;
};

hocket_operation_arguments arguments_of(const Call& call) {
    return {sizeof(hocket_operation_arguments),
            call.send.address,
            call.send.count,
            call.send.type,
            call.recv.address,
            call.recv.count,
            call.recv.type,
            call.op};
}

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
        const int pieces = std::array{1, 3, 8}[shared() % 3];
        do {
            flight.call = make_call(kind, shared, types, comm, root);
            // Where it lies matters: the copy has its own memory.
            if (flight.call.send.address != MPI_IN_PLACE)
                flight.call.send.address = flight.call.send_memory.data() + 64;
            if (flight.call.recv.address != MPI_IN_PLACE)
                flight.call.recv.address = flight.call.recv_memory.data() + 64;
        } while (is_native && !suits_native(flight.call));
        flight.twin = twin_of(flight.call);
        flight.what = algorithm.name + ", " + std::to_string(pieces) + " pieces, " + flight.call.description;
        hocket_operation* const operation = operations.get(algorithm, root, pieces);
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

/// One request started again and again.
void restart(MPI_Comm comm, Operations& operations, hocket_engine* engine, int times) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (const char* algorithm : {"recursive_doubling", "ring", "native"}) {
        std::vector<int> from(3), to(3);
        hocket_operation* const operation = operations.get({"allreduce", algorithm}, 0, 1);
        const hocket_operation_arguments with = {sizeof with, from.data(), 3, MPI_INT, to.data(), 3, MPI_INT, MPI_SUM};
        hocket_request* request = nullptr;
        expect(hocket_request_create(operation, &with, engine, &request) == HOCKET_OK, "request_create");
        int done = 0;
        expect(hocket_request_test(request, &done) == HOCKET_OK && done == 1, "one that was not started has ended");
        for (int i = 0; i < times; ++i) {
            std::iota(from.begin(), from.end(), i + rank);
            expect(hocket_request_start(request) == HOCKET_OK, "start");
            expect(hocket_request_wait(request) == HOCKET_OK, "wait");
            ++num_run;
            const int wanted = size * i + size * (size - 1) / 2;
            if (to[0] != wanted || to[2] != wanted + 2 * size) fail(algorithm);
        }
        expect(hocket_request_free(request) == HOCKET_OK, "free");
    }
}

/// Reductions that are started together, of which the small ones become one; some are freed and made again in between.
void together(MPI_Comm comm, Operations& operations, hocket_engine* engine, std::mt19937& shared, int times) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    struct One {
        std::vector<double> from, to;
        hocket_request* request = nullptr;
        bool everywhere = true;  // or at the root alone
        bool is_max = false;     // and in place, or a sum
    };
    std::deque<One> all(16);
    const auto make = [&](One& one) {
        static constexpr int counts[] = {0, 1, 1, 1, 5, 100, 3000};
        const auto count = static_cast<std::size_t>(counts[shared() % 7]);
        one.from.assign(count, 0);
        one.to.assign(count, -1);
        const unsigned way = shared() % 4;
        one.everywhere = way != 0;
        one.is_max = shared() % 5 == 0 && one.everywhere;
        const Algorithm algorithm = way == 0   ? Algorithm{"reduce", "binomial"}
                                    : way == 1 ? Algorithm{"allreduce", "native"}
                                               : Algorithm{"allreduce", "recursive_doubling"};
        const auto elements = static_cast<std::int64_t>(count);
        const hocket_operation_arguments with = {sizeof with,   one.is_max ? MPI_IN_PLACE : one.from.data(),
                                                 elements,      MPI_DOUBLE,
                                                 one.to.data(), elements,
                                                 MPI_DOUBLE,    one.is_max ? MPI_MAX : MPI_SUM};
        expect(hocket_request_create(operations.get(algorithm, 0, 1), &with, engine, &one.request) == HOCKET_OK,
               "create");
    };
    for (One& one : all) make(one);
    for (int i = 0; i < times; ++i) {
        std::vector<hocket_request*> requests;
        for (One& one : all) {
            for (std::size_t k = 0; k < one.from.size(); ++k) {
                one.from[k] = i + rank + static_cast<double>(k);
                one.to[k] = one.is_max ? one.from[k] : -1;
            }
            requests.push_back(one.request);
        }
        expect(hocket_request_start_all(16, requests.data()) == HOCKET_OK, "start_all");
        expect(hocket_request_wait_all(16, requests.data()) == HOCKET_OK, "wait_all");
        num_run += 16;
        for (const One& one : all) {
            for (std::size_t k = 0; k < one.to.size() && (one.everywhere || rank == 0); ++k) {
                const double first = i + static_cast<double>(k);
                const double wanted = one.is_max ? first + size - 1 : size * first + size * (size - 1) / 2;
                if (one.to[k] != wanted) return fail("together");
            }
        }
        One& other = all[shared() % 16];
        expect(hocket_request_free(other.request) == HOCKET_OK, "free");
        make(other);
        if (shared() % 4 == 0) std::swap(all[shared() % 16], all[shared() % 16]);
    }
    hocket_request* const twice[2] = {all[0].request, all[0].request};
    expect(hocket_request_start_all(2, twice) == HOCKET_ERROR_INVALID, "a request given twice");
    for (One& one : all) expect(hocket_request_free(one.request) == HOCKET_OK, "free");
}

/// Calls of which a selection chooses the way, several in flight, with results that tell their number.
void select(MPI_Comm comm, Operations& operations, hocket_engine* engine, std::size_t num_in_flight, int times) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Operations others(comm);  // blocking native calls do not match those of the engine
    const hocket_arm arms[] = {{"native", operations.get({"allreduce", "native"}, 0, 1), engine, 0},
                               {"ring", operations.get({"allreduce", "ring"}, 0, 1), engine, 0},
                               {"doubling", operations.get({"allreduce", "recursive_doubling"}, 0, 1), engine, 0},
                               {"blocking", others.get({"allreduce", "native"}, 0, 1), nullptr, 0}};
    hocket_selection* selection = nullptr;
    expect(hocket_selection_create(others.communicator(), 4, arms, static_cast<int>(num_in_flight), &selection) ==
               HOCKET_OK,
           "selection_create");
    struct One {
        double from[2], to[2];
        int number;
        hocket_request* request;
    };
    std::deque<One> in_flight;
    const auto end_first = [&] {
        One& one = in_flight.front();
        expect(hocket_request_wait(one.request) == HOCKET_OK, "wait");
        expect(hocket_request_free(one.request) == HOCKET_OK, "free");
        if (one.to[0] != size * one.number || one.to[1] != size * (size - 1) / 2) fail("selection");
        ++num_run;
        in_flight.pop_front();
    };
    for (int i = 0; i < times; ++i) {
        if (in_flight.size() == num_in_flight) {
            hocket_request* more = nullptr;
            const hocket_operation_arguments none = {sizeof none, nullptr, 0,          MPI_DOUBLE,
                                                     nullptr,     0,       MPI_DOUBLE, MPI_SUM};
            expect(hocket_selection_start(selection, &none, &more) == HOCKET_ERROR_INVALID, "too many in flight");
            end_first();
        }
        in_flight.push_back({{1.0 * i, 1.0 * rank}, {-1, -1}, i, nullptr});
        One& one = in_flight.back();
        const hocket_operation_arguments with = {sizeof with, one.from, 2, MPI_DOUBLE, one.to, 2, MPI_DOUBLE, MPI_SUM};
        if (hocket_selection_start(selection, &with, &one.request) != HOCKET_OK) fail("selection_start");
    }
    while (!in_flight.empty()) end_first();
    const std::string report = hocket_selection_get_report(selection);
    expect(report.find("\"settled\": true") != std::string::npos, "settled");
    if (rank == 0 && comm == MPI_COMM_WORLD) std::printf("%s\n", report.c_str());
    expect(hocket_selection_free(selection) == HOCKET_OK, "selection_free");
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
            for (int i = 0; i < num_rounds; ++i)
                round(comm, operations, engine, algorithms, shared, own, types, native);
            restart(comm, operations, engine, 20);
            together(comm, operations, engine, shared, 20);
            select(comm, operations, engine, 1 + static_cast<std::size_t>(c), 100);
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
