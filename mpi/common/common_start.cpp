// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "common/common_start.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/mpi_calls.hpp"

namespace hocket {

namespace {

constexpr double least_window_s = 0.5e-3, most_window_s = 50e-3;
constexpr double window_growth = 2, window_decay = 0.95;
// Ranks are awake at the start, as those of a program are that comes from computing.
constexpr double awake_s = 100e-6;
// Of ranks that are done early: their part of the next agreement would keep those from the cores that are not done.
constexpr double least_rest_s = 200e-6, most_rest_s = 5e-3;
constexpr int clock_exchanges = 30;

/// The same text where ranks have the same clock: of one start of one kernel, and not in different time namespaces.
std::string clock_name() {
    std::string name;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
    std::array<char, 64> space{};
    const ssize_t length = readlink("/proc/self/ns/time", space.data(), space.size());
    return name.empty()
               ? name
               : name + ' ' + std::string(space.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
}

/// How far this clock is ahead of that of rank 0, from the fastest of some exchanges [Cristian89]; 0 on rank 0 itself.
double clock_ahead_s(MPI_Comm comm) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    std::string name = clock_name();
    std::array<char, 128> first{};
    name.copy(first.data(), first.size() - 1);
    const auto mine = first;
    require(PMPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, comm), "MPI_Bcast");
    int differs = first != mine || name.empty() ? 1 : 0;
    std::vector<int> who(static_cast<std::size_t>(size));
    require(PMPI_Allgather(&differs, 1, MPI_INT, who.data(), 1, MPI_INT, comm), "MPI_Allgather");
    double ahead_s = 0, fastest_s = std::numeric_limits<double>::infinity();
    for (int other = 1; other < size; ++other) {
        if (who[static_cast<std::size_t>(other)] == 0 || (rank != 0 && rank != other)) continue;
        for (int i = 0; i < clock_exchanges; ++i) {
            double theirs_s = now_s();
            if (rank == 0) {
                require(PMPI_Recv(nullptr, 0, MPI_BYTE, other, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
                theirs_s = now_s();
                require(PMPI_Send(&theirs_s, 1, MPI_DOUBLE, other, 0, comm), "MPI_Send");
                continue;
            }
            const double begin_s = now_s();
            require(PMPI_Send(nullptr, 0, MPI_BYTE, 0, 0, comm), "MPI_Send");
            require(PMPI_Recv(&theirs_s, 1, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
            const double end_s = now_s();
            if (end_s - begin_s >= fastest_s) continue;
            fastest_s = end_s - begin_s;
            ahead_s = (begin_s + end_s) / 2 - theirs_s;
        }
    }
    return ahead_s;
}

void sleep_until(double time_s) {
    const double whole_s = std::floor(time_s);
    const timespec until{static_cast<time_t>(whole_s), static_cast<long>((time_s - whole_s) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace

CommonStart::CommonStart(MPI_Comm comm) : comm_(comm), ahead_s_(clock_ahead_s(comm)), window_s_(least_window_s) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // the usual slack of 50 us is half of the time that ranks are awake before a start
}

double CommonStart::wait() {
    MPI_Request request = MPI_REQUEST_NULL;
    double now = now_s() - ahead_s_, last = 0;  // by the clock of rank 0
    require(PMPI_Iallreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, comm_, &request), "MPI_Iallreduce");
    wait_aside(request);
    const double start_s = last + window_s_ + ahead_s_;
    missed_ = now_s() >= start_s;
    sleep_until(start_s - awake_s);
    while (now_s() < start_s) sched_yield();
    return start_s;
}

CommonStart::Time CommonStart::time(double took_s) {
    if (took_s < most_rest_s) sleep_until(now_s() + std::max(took_s, least_rest_s));
    double mine[2] = {took_s, missed_ ? 1.0 : 0.0}, most[2] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Iallreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, comm_, &request), "MPI_Iallreduce");
    wait_aside(request);
    const bool together = most[1] == 0;
    window_s_ = together ? std::max(least_window_s, window_s_ * window_decay)
                         : std::min(most_window_s, window_s_ * window_growth);
    return {most[0], together};
}

}  // namespace hocket
