// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Four threads of each rank, each with a communicator of its own, which it replaces now and then.

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0) std::printf("no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    std::atomic<int> wrong{0};
    std::vector<MPI_Comm> comms(4);
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < comms.size(); ++t) {
        threads.emplace_back([&, t] {
            std::vector<int> data(5000);
            for (int i = 0; i < 100; ++i) {
                const int value = static_cast<int>(t) * 1000 + i;
                if (rank == i % size) data.assign(data.size(), value);
                MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_INT, i % size, comms[t]);
                int sum = 0;
                MPI_Allreduce(&data[static_cast<std::size_t>(i)], &sum, 1, MPI_INT, MPI_SUM, comms[t]);
                if (data.back() != value || sum != value * size) ++wrong;
                if (i % 25 == 24) {
                    MPI_Comm next;
                    MPI_Comm_dup(comms[t], &next);
                    MPI_Comm_free(&comms[t]);
                    comms[t] = next;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    int mine = wrong, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("wrong %d\n", all);
    MPI_Finalize();
    return 0;
}
