// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// What requests_check.cpp does besides random calls: restarts, starts together, selections, collectives that no
// schedule has.

#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "calls.hpp"
#include "hocket.h"

inline long long num_run = 0, num_refused = 0, num_wrong = 0;

inline void fail(const std::string& what) {
    ++num_wrong;
    std::printf("WRONG %s: %s\n", what.c_str(), hocket_last_error());
    std::fflush(stdout);
}
inline void expect(bool good, const char* what) {
    if (!good) fail(what);
}

inline Kind kind_of(const std::string& name) {
    int kind = 0;
    while (kind < num_kinds && name != kind_names[kind]) ++kind;
    return static_cast<Kind>(kind);
}

struct Algorithm {
    std::string collective, name;
};

inline std::vector<Algorithm> all_algorithms() {
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
    hocket_operation* get(const Algorithm& algorithm, int root, int segments) {
        hocket_operation*& operation = made_[{algorithm.collective, algorithm.name, root, segments}];
        const hocket_schedule_parameters what = {
            sizeof what, algorithm.collective.c_str(), algorithm.name.c_str(), root, segments, nullptr, nullptr, 0};
        if (operation == nullptr && hocket_operation_create(communicator_, &what, &operation) != HOCKET_OK)
            fail(algorithm.name);
        return operation;
    }

    [[nodiscard]] hocket_communicator* communicator() const { return communicator_; }

private:
    hocket_communicator* communicator_ = nullptr;
    std::map<std::tuple<std::string, std::string, int, int>, hocket_operation*> made_;
};

inline hocket_operation_arguments arguments_of(const Call& call) {
    return {sizeof(hocket_operation_arguments),
            call.send.address,
            call.send.count,
            call.send.type,
            call.recv.address,
            call.recv.count,
            call.recv.type,
            call.op};
}

/// One request started again and again.
inline void restart(MPI_Comm comm, Operations& operations, hocket_engine* engine, int times) {
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

/// A native operation carried out while a request is pending on some ranks and has ended on others, and then native
/// requests. All ranks must call the same function of the MPI.
inline void execute_beside_pending(MPI_Comm comm, hocket_engine* engine) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Operations operations(comm);  // on which nothing was started before
    int number = rank == 0 ? 7 : 0;
    const hocket_operation_arguments with = {sizeof with, nullptr, 0, MPI_DATATYPE_NULL, &number, 1, MPI_INT};
    hocket_request* request = nullptr;
    if (rank == 0) usleep(50000);  // the others wait for this rank, where it has ended at once
    expect(hocket_operation_start(operations.get({"bcast", "binomial"}, 0, 1), &with, engine, &request) == HOCKET_OK,
           "start beside");
    hocket_operation* const sum = operations.get({"allreduce", "native"}, 0, 1);
    const int ones[4] = {1, 1, 1, 1};
    int sums[4] = {};
    hocket_request* more[3] = {};
    for (int i = 0; i < 4; ++i) {
        const hocket_operation_arguments one = {sizeof one, &ones[i], 1, MPI_INT, &sums[i], 1, MPI_INT, MPI_SUM};
        expect((i == 0 ? hocket_operation_execute(sum, &one)
                       : hocket_operation_start(sum, &one, engine, &more[i - 1])) == HOCKET_OK,
               "native beside");
    }
    expect(hocket_request_wait_all(3, more) == HOCKET_OK && hocket_request_wait(request) == HOCKET_OK, "wait beside");
    for (const int found : sums) expect(found == size, "sum beside");
    expect(number == 7, "bcast beside");
    for (hocket_request* one : more) expect(hocket_request_free(one) == HOCKET_OK, "free beside");
    expect(hocket_request_free(request) == HOCKET_OK, "free beside");
}

/// Reductions that are started together, of which the small ones become one; some are freed and made again in between.
inline void together(MPI_Comm comm, Operations& operations, hocket_engine* engine, std::mt19937& shared, int times) {
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

/// Calls of which a selection chooses the way, several in flight, with results that contain their number.
inline void select(MPI_Comm comm, Operations& operations, hocket_engine* engine, bool is_queue,
                   std::size_t num_in_flight, int times) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    Operations others(comm);  // blocking native calls do not match those of the engine, unless it is a queue
    const hocket_arm arms[] = {
        {"native", operations.get({"allreduce", "native"}, 0, 1), engine, 0},
        {"ring", operations.get({"allreduce", "ring"}, 0, 1), engine, 0},
        {"doubling", operations.get({"allreduce", "recursive_doubling"}, 0, 1), engine, 0},
        {"blocking", (is_queue ? operations : others).get({"allreduce", "native"}, 0, 1), nullptr, 0}};
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

/// A start that waits for room in its engine, on which the others wait for what is pending in another one.
inline void fill(MPI_Comm comm, Operations& operations, const std::string& kind) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    hocket_operation* const ring = operations.get({"allreduce", "ring"}, 0, 1);
    hocket_engine *narrow = nullptr, *wide = nullptr;
    const hocket_engine_parameters one = {sizeof one, kind.c_str(), HOCKET_CORE_ANY, 1};
    const hocket_engine_parameters many = {sizeof many, "function", HOCKET_CORE_ANY, 0};
    expect(hocket_engine_create(&one, &narrow) == HOCKET_OK && hocket_engine_create(&many, &wide) == HOCKET_OK,
           "engines");
    constexpr int count = 100000;
    const std::vector<int> from(count, 1);
    std::vector<int> to[3];
    hocket_request* requests[3];
    for (int i = 0; i < 3; ++i) {
        to[i].assign(count, 0);
        const hocket_operation_arguments with = {sizeof with,  from.data(), count,   MPI_INT,
                                                 to[i].data(), count,       MPI_INT, MPI_SUM};
        expect(hocket_operation_start(ring, &with, i == 0 ? wide : narrow, &requests[i]) == HOCKET_OK, "start");
        if (i == 0 && rank == size - 1) expect(hocket_request_wait(requests[0]) == HOCKET_OK, "wait");
    }
    expect(hocket_request_wait_all(3, requests) == HOCKET_OK, "wait_all");
    for (int i = 0; i < 3; ++i) {
        expect(to[i].front() == size && to[i].back() == size, "a full engine");
        expect(hocket_request_free(requests[i]) == HOCKET_OK, "free");
    }
    expect(hocket_engine_free(narrow) == HOCKET_OK && hocket_engine_free(wide) == HOCKET_OK, "engine_free");
}

/// Requests of a selection whose arm has no engine, started again.
inline void restart_selected(Operations& operations) {
    const hocket_arm arm = {"blocking", operations.get({"allreduce", "ring"}, 0, 1), nullptr, 0};
    hocket_selection* selection = nullptr;
    expect(hocket_selection_create(operations.communicator(), 1, &arm, 2, &selection) == HOCKET_OK, "selection");
    int one = 1, sums[2];
    hocket_request* requests[2];
    for (int i = 0; i < 2; ++i) {
        const hocket_operation_arguments with = {sizeof with, &one, 1, MPI_INT, &sums[i], 1, MPI_INT, MPI_SUM};
        expect(hocket_selection_start(selection, &with, &requests[i]) == HOCKET_OK, "selection_start");
    }
    const int sum = sums[0];
    sums[0] = sums[1] = 0;
    expect(hocket_request_wait_all(2, requests) == HOCKET_OK, "wait_all");
    expect(hocket_request_start_all(2, requests) == HOCKET_OK, "start_all without an engine");
    expect(hocket_request_wait_all(2, requests) == HOCKET_OK && sums[0] == sum && sums[1] == sum, "restarted");
    for (hocket_request* const request : requests) hocket_request_free(request);
    expect(hocket_selection_free(selection) == HOCKET_OK, "selection_free");
}

/// Collectives that no schedule has: all at once, against the blocking ones.
inline void blocks(MPI_Comm comm, Operations& operations, hocket_engine* engine, std::mt19937& shared) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto num = static_cast<std::size_t>(size);
    // counts[i * size + j]: elements from rank i to rank j
    std::vector<int> counts(num * num), out(num), in(num), out_at(num), in_at(num), own(num), own_at(num);
    for (int& count : counts) count = static_cast<int>(shared() % 50);
    for (std::size_t i = 0; i < num; ++i) {
        out[i] = counts[static_cast<std::size_t>(rank) * num + i];
        in[i] = counts[i * num + static_cast<std::size_t>(rank)];
        own[i] = counts[i];
        out_at[i] = static_cast<int>(i) * 50, in_at[i] = static_cast<int>(num - 1 - i) * 50,
        own_at[i] = static_cast<int>(i) * 60;
    }
    std::vector<int> out_bytes = out_at, in_bytes = in_at;
    for (int& at : out_bytes) at *= 4;
    for (int& at : in_bytes) at *= 4;
    const std::vector<MPI_Datatype> types(num, MPI_INT);
    const int root = size - 1, mine = own[static_cast<std::size_t>(rank)];
    constexpr int num_kinds_here = 8, room = 8000;
    static const char* const names[num_kinds_here] = {"allgatherv", "alltoallv",      "alltoallw", "gatherv",
                                                      "scatterv",   "reduce_scatter", "scan",      "exscan"};
    std::vector<int> from(room), all[num_kinds_here], wanted[num_kinds_here];
    for (std::size_t i = 0; i < room; ++i) from[i] = rank * room + static_cast<int>(i);
    hocket_request* requests[num_kinds_here];
    for (std::size_t k = 0; k < num_kinds_here; ++k) {
        all[k].assign(room, -1);
        wanted[k].assign(room, -1);
        int* const to = all[k].data();
        hocket_operation_arguments with = {};
        with.struct_size = sizeof with;
        with.send_buffer = from.data(), with.send_count = mine, with.send_type = MPI_INT;
        with.recv_buffer = to, with.recv_count = k < 6 ? mine : 70, with.recv_type = MPI_INT, with.op = MPI_SUM;
        const bool has_send_blocks = k == 1 || k == 2 || k == 4, has_recv_blocks = k == 1 || k == 2;
        with.send_counts = has_send_blocks ? (k == 4 ? own.data() : out.data()) : nullptr;
        with.send_displacements = k == 2 ? out_bytes.data() : k == 4 ? own_at.data() : out_at.data();
        with.recv_counts = has_recv_blocks ? in.data() : own.data();
        with.recv_displacements = k == 2 ? in_bytes.data() : k == 1 ? in_at.data() : own_at.data();
        with.send_types = with.recv_types = types.data();
        hocket_operation* const operation = operations.get({names[k], "native"}, k == 3 || k == 4 ? root : 0, 1);
        if (hocket_operation_start(operation, &with, engine, &requests[k]) != HOCKET_OK) return fail(names[k]);
    }
    expect(hocket_request_wait_all(num_kinds_here, requests) == HOCKET_OK, "wait_all");
    const auto to = [&](int k) { return wanted[k].data(); };
    MPI_Allgatherv(from.data(), mine, MPI_INT, to(0), own.data(), own_at.data(), MPI_INT, comm);
    MPI_Alltoallv(from.data(), out.data(), out_at.data(), MPI_INT, to(1), in.data(), in_at.data(), MPI_INT, comm);
    MPI_Alltoallv(from.data(), out.data(), out_at.data(), MPI_INT, to(2), in.data(), in_at.data(), MPI_INT, comm);
    MPI_Gatherv(from.data(), mine, MPI_INT, to(3), own.data(), own_at.data(), MPI_INT, root, comm);
    MPI_Scatterv(from.data(), own.data(), own_at.data(), MPI_INT, to(4), mine, MPI_INT, root, comm);
    MPI_Reduce_scatter(from.data(), to(5), own.data(), MPI_INT, MPI_SUM, comm);
    MPI_Scan(from.data(), to(6), 70, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(from.data(), to(7), 70, MPI_INT, MPI_SUM, comm);
    for (int k = 0; k < num_kinds_here; ++k) {
        ++num_run;
        if (all[k] != wanted[k] && !(k == 7 && rank == 0)) fail(names[k]);
        expect(hocket_request_free(requests[k]) == HOCKET_OK, "free");
    }
}
