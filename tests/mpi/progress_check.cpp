// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// A program that knows nothing of hocket: `progress_check SCENARIO SEED ROUNDS`. Rank 0 prints "wrong N" at the end.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
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

/// To the next rank and from the one before.
struct Ring {
    Ring(MPI_Comm with, std::mt19937& random, int max) : comm(with) {
        const std::size_t count = random() % static_cast<unsigned>(max + 1);
        sent.assign(count, rank);
        got.assign(count, -1);
    }
    void start(int tag, MPI_Request* send, MPI_Request* receive) {
        const int count = static_cast<int>(sent.size());
        MPI_Irecv(got.data(), count, MPI_INT, (rank + size - 1) % size, tag, comm, receive);
        MPI_Isend(sent.data(), count, MPI_INT, (rank + 1) % size, tag, comm, send);
    }
    [[nodiscard]] bool is_right() const {
        return std::all_of(got.begin(), got.end(), [](int value) { return value == (rank + size - 1) % size; });
    }
    MPI_Comm comm;
    std::vector<int> sent, got;
};

/// One round of up to 16 requests in flight, of both kinds.
int mixed_round(MPI_Comm comm, std::mt19937& shared, std::mt19937& own, unsigned way, int max_block) {
    std::deque<Collective> collectives;
    std::deque<Ring> rings;
    std::vector<MPI_Request> requests;
    const unsigned num = 1 + static_cast<unsigned>(shared() % 14);
    for (unsigned i = 0; i < num; ++i) {
        if (shared() % 4 == 0) {
            rings.emplace_back(comm, shared, 8 * max_block);
        } else {
            collectives.emplace_back(static_cast<Kind>(shared() % num_kinds), comm, shared, max_block);
        }
    }
    for (Collective& collective : collectives) collective.start(&requests.emplace_back());
    int tag = 0;
    for (Ring& ring : rings) {
        MPI_Request both[2];
        ring.start(tag++, &both[0], &both[1]);
        requests.insert(requests.begin() + static_cast<long>(own() % (requests.size() + 1)), both, both + 2);
    }
    if (own() % 4 == 0) usleep(static_cast<unsigned>(own() % 2000));
    int wrong = complete(requests, way, own);
    for (const MPI_Request request : requests) wrong += request != MPI_REQUEST_NULL;
    for (const Collective& collective : collectives) wrong += !collective.is_right();
    for (const Ring& ring : rings) wrong += !ring.is_right();
    return wrong;
}

int mixed(unsigned seed, int rounds) {
    std::mt19937 shared(seed), own(seed + 1000U * static_cast<unsigned>(rank + 1));
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) wrong += mixed_round(MPI_COMM_WORLD, shared, own, own(), i % 8 == 0 ? 20000 : 300);
    return wrong;
}

/// How requests are completed among which there are persistent collectives: other functions of these MPIs fail then, or
/// do not pass over inactive ones.
unsigned way_for_persistent(std::mt19937& random) {
#if !defined(MPICH_NUMVERSION)
    const unsigned ways[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
#elif MPICH_NUMVERSION >= 50000000
    const unsigned ways[] = {0, 1, 2, 3, 4, 5, 6, 7, 9};
#else
    const unsigned ways[] = {0, 1, 2, 3, 9};
#endif
    return ways[random() % (sizeof ways / sizeof *ways)];
}

/// All persistent collectives, started again and again, some of them in each round, beside others.
int persistent_ones(unsigned seed, int rounds) {
    int wrong = 0;
#if HAS_PERSISTENT
    std::mt19937 shared(seed), own(seed + 1000U * static_cast<unsigned>(rank + 1));
    std::deque<Collective> collectives;
    std::vector<MPI_Request> all;
    for (int kind = 0; kind < num_kinds; ++kind) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
        // Started again, these give wrong results in MPICH 4.0.
        if (kind == allgather || kind == gather || kind == scatter) continue;
#endif
        collectives.emplace_back(static_cast<Kind>(kind), MPI_COMM_WORLD, shared, 2000);
        wrong += collectives.back().make(&all.emplace_back()) != MPI_SUCCESS;
    }
    for (int round = 0; round < rounds; ++round) {
        std::vector<MPI_Request> started, requests;
        std::vector<std::size_t> which;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (round > 0 && shared() % 2 == 0) continue;  // MPICH 4.0 waits for ever for one that was never started
            collectives[i].refill(static_cast<int>(shared() % 1000));
            which.push_back(i);
            started.push_back(all[i]);
        }
        const std::vector<MPI_Request> handles = started;
        if (own() % 2 == 0) {
            MPI_Startall(static_cast<int>(started.size()), started.data());
        } else {
            for (MPI_Request& request : started) MPI_Start(&request);
        }
        requests = started;
        Ring ring(MPI_COMM_WORLD, shared, 50000);
        Collective other(alltoall, MPI_COMM_WORLD, shared, 1000);
        requests.resize(started.size() + 3);
        ring.start(0, &requests[started.size()], &requests[started.size() + 1]);
        other.start(&requests[started.size() + 2]);
        if (own() % 3 == 0) requests.push_back(MPI_REQUEST_NULL);
        wrong += complete(requests, way_for_persistent(own), own);
        for (std::size_t i = 0; i < handles.size(); ++i) wrong += requests[i] != handles[i];
        for (const std::size_t i : which) wrong += !collectives[i].is_right();
        wrong += !ring.is_right() + !other.is_right();
        // Inactive ones are passed over.
        wrong += complete(all, own() % 4, own);
    }
    for (MPI_Request& request : all) wrong += MPI_Request_free(&request) != MPI_SUCCESS;
    for (const MPI_Request request : all) wrong += request != MPI_REQUEST_NULL;
#else
    (void)seed, (void)rounds;
#endif
    return wrong;
}

/// Communicators or datatypes that are freed while a collective on them is pending.
int freed_handles(unsigned seed, int rounds, bool frees_types) {
    std::mt19937 shared(seed), own(seed + static_cast<unsigned>(rank));
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        Collective first(alltoall, comm, shared, 20000);
        Collective second(i % 2 == 0 ? allreduce : reduce_scatter_block, comm, shared, 5000);
        std::vector<MPI_Request> requests(3);
        first.start(&requests[0]);
        second.start(&requests[1]);
        MPI_Datatype pair;
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        std::vector<int> data(20000, rank == 0 ? i : -1);
        MPI_Ibcast(data.data(), 10000, pair, 0, comm, &requests[2]);
        if (frees_types) MPI_Type_free(&pair);
        if (!frees_types) MPI_Comm_free(&comm);
        wrong += complete(requests, own(), own);
        if (frees_types) MPI_Comm_free(&comm);
        if (!frees_types) MPI_Type_free(&pair);
        wrong += !first.is_right() + !second.is_right() + (data.back() != i);
    }
    return wrong;
}

/// With one rank that comes 2 s late, then 0.2 s.
int late(unsigned seed, int) {
    std::mt19937 shared(seed), own(seed + static_cast<unsigned>(rank));
    int wrong = 0;
    for (unsigned way = 0; way < 10; way += 3) {
        Collective first(alltoall, MPI_COMM_WORLD, shared, 5000), second(barrier, MPI_COMM_WORLD, shared, 1);
        std::vector<MPI_Request> requests(2);
        if (rank == size - 1) usleep(way == 0 ? 2000000 : 200000);
        first.start(&requests[0]);
        second.start(&requests[1]);
        wrong += complete(requests, way, own) + !first.is_right();
    }
    return wrong;
}

int threads(unsigned seed, int rounds) {
    std::vector<MPI_Comm> comms(4);
    std::vector<int> wrong(4);
    std::vector<std::thread> all;
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (std::size_t t = 0; t < 4; ++t) {
        all.emplace_back([&, t] {
            std::mt19937 shared(seed + static_cast<unsigned>(t)), own(seed + static_cast<unsigned>(rank) * 10);
            for (int i = 0; i < rounds; ++i) wrong[t] += mixed_round(comms[t], shared, own, own(), 500);
        });
    }
    for (std::thread& thread : all) thread.join();
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    return wrong[0] + wrong[1] + wrong[2] + wrong[3];
}

/// A receive that is cancelled while collectives are pending.
int cancel(unsigned seed, int rounds) {
    std::mt19937 shared(seed), own(seed + static_cast<unsigned>(rank));
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
        Collective collective(alltoall, MPI_COMM_WORLD, shared, 5000);
        std::vector<int> data(50000);
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int is_cancelled = 0;
        MPI_Irecv(data.data(), 50000, MPI_INT, rank, 77, MPI_COMM_WORLD, &requests[0]);
        collective.start(&requests[1]);
        MPI_Cancel(&requests[0]);
        MPI_Waitall(2, requests, statuses);
        MPI_Test_cancelled(&statuses[0], &is_cancelled);
        wrong += !is_cancelled + !collective.is_right();
        MPI_Test_cancelled(&statuses[1], &is_cancelled);
        wrong += is_cancelled != 0;
    }
    return wrong;
}

int level(int provided) {
    int now = -1, is_main = 0;
    MPI_Query_thread(&now);
    MPI_Is_thread_main(&is_main);
    return (now != provided) + !is_main;
}

/// What MPI forbids, and a proxy allows: requests that are freed while they are pending, and nobody waits for.
int freed_requests(unsigned seed, int rounds) {
    std::mt19937 shared(seed);
    static std::deque<std::vector<int>> buffers;
    for (int i = 0; i < rounds; ++i) {
        MPI_Request request;
        std::vector<int>& data = buffers.emplace_back(20000, rank);
        if (rank == 0 && i == 0) usleep(300000);
        if (i % 2 == 0) {
            MPI_Ibcast(data.data(), 20000, MPI_INT, static_cast<int>(shared()) % 1, MPI_COMM_WORLD, &request);
        } else {
            MPI_Iallreduce(MPI_IN_PLACE, data.data(), 20000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        }
        // One that has ended at once has no proxy.
        int is_over = 0;
        MPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE);
        if (is_over)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            MPI_Request_free(&request);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string scenario = argc > 1 ? argv[1] : "";
    const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 10;
    int provided = MPI_THREAD_SINGLE;
    if (scenario == "threads") {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    } else if (scenario == "funneled") {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = level(provided);
    if (scenario == "mixed" || scenario == "funneled") {
        wrong += mixed(seed, rounds);
    } else if (scenario == "persistent") {
        wrong += persistent_ones(seed, rounds);
    } else if (scenario == "freed-communicators" || scenario == "freed-types") {
        wrong += freed_handles(seed, rounds, scenario == "freed-types");
    } else if (scenario == "freed-requests") {
        wrong += freed_requests(seed, rounds);
    } else if (scenario == "late") {
        wrong += late(seed, rounds);
    } else if (scenario == "threads") {
        wrong += threads(seed, rounds);
    } else if (scenario == "cancel") {
        wrong += cancel(seed, rounds);
    } else {
        ++wrong;
    }
    int all = wrong;
    if (scenario != "freed-requests") MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s seed %u: wrong %d\n", scenario.c_str(), seed, all);
    MPI_Finalize();
    return 0;
}
