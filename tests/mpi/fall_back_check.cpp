// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Many communicators, some for a few calls only, two at once in threads where the MPI allows it, and calls that fail in
// between: the ranks must go on agreeing which calls are native.

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

int rank, size;
std::atomic<int> num_wrong{0};

void expect(bool good) {
    if (!good) ++num_wrong;
}

void broadcast(MPI_Comm comm, int call, int bytes) {
    std::vector<char> data(static_cast<std::size_t>(bytes), rank == call % size ? static_cast<char>(call) : '\0');
    MPI_Bcast(data.data(), bytes, MPI_BYTE, call % size, comm);
    expect(data.front() == static_cast<char>(call) && data.back() == static_cast<char>(call));
}

void sum(MPI_Comm comm, int call) {
    const std::vector<int> mine(1000, rank + call);
    std::vector<int> all(1000);
    MPI_Allreduce(mine.data(), all.data(), 1000, MPI_INT, MPI_SUM, comm);
    expect(all.front() == size * (size - 1) / 2 + size * call && all.back() == all.front());
}

/// On all ranks: the calls are counted, and carry nothing.
void fail(MPI_Comm comm) {
    int value = 0;
    MPI_Bcast(&value, -1, MPI_INT, 0, comm);
    MPI_Bcast(&value, 1, MPI_INT, size, comm);
}

void use(MPI_Comm comm) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int call = 1; call <= 250; ++call) {
        broadcast(comm, call / 25, 20000);
        broadcast(comm, call, 100);
        sum(comm, call);
        if (call % 10 == 0) fail(comm);
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; ++i) {
        MPI_Comm comms[2];
        for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (provided == MPI_THREAD_MULTIPLE) {
            std::thread other(use, comms[1]);
            use(comms[0]);
            other.join();
        } else {
            for (const MPI_Comm comm : comms) use(comm);
        }
        for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    }
    for (int i = 0; i < 40; ++i) {
        MPI_Comm fresh;
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
        for (int call = 0; call < 3; ++call) broadcast(fresh, call, 20000);
        MPI_Comm_free(&fresh);
    }
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, -rank, &pair);
    for (int call = 0; pair != MPI_COMM_NULL && call < 7; ++call) {
        int value = rank == 1 ? call : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, pair);
        expect(value == call);
    }
    if (pair != MPI_COMM_NULL) MPI_Comm_free(&pair);
    int mine = num_wrong, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("wrong %d\n", all);
    MPI_Finalize();
    return 0;
}
