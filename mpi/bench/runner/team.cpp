// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/team.hpp"

#include <vector>

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/mpi_calls.hpp"

namespace hocket::bench {

namespace {

constexpr double alone_s = 3;
constexpr int no_rank = -1;

}  // namespace

Team Team::make(int ranks, bool agrees) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Team team{MPI_COMM_NULL, MPI_COMM_NULL, rank, ranks, nullptr};
    const int color = rank < ranks ? 0 : MPI_UNDEFINED;
    require(PMPI_Comm_split(MPI_COMM_WORLD, color, rank, &team.pattern), "MPI_Comm_split");
    require(PMPI_Comm_split(MPI_COMM_WORLD, color, rank, &team.control), "MPI_Comm_split");
    if (color == 0) {
        MPI_Comm_set_errhandler(team.pattern, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(team.control, MPI_ERRORS_RETURN);
        if (agrees) {  // apart from `control`, where a rank whose pattern has failed waits for the others
            MPI_Comm starts = MPI_COMM_NULL;
            require(PMPI_Comm_dup(team.control, &starts), "MPI_Comm_dup");
            team.agreed = std::make_shared<CommonStart>(starts);
        }
    }
    return team;
}

std::int64_t Team::start_together() const {
    if (agreed) return static_cast<std::int64_t>(1e9 * agreed->wait());
    for (int distance = 1; distance < ranks; distance *= 2) {
        PMPI_Sendrecv(nullptr, 0, MPI_BYTE, (rank + distance) % ranks, 0, nullptr, 0, MPI_BYTE,
                      (rank + ranks - distance) % ranks, 0, control, MPI_STATUS_IGNORE);
    }
    return now_ns();
}

bool Team::end(std::int64_t took_ns) const {
    return !agreed || agreed->time(1e-9 * static_cast<double>(took_ns)).together;
}

void Team::agree(const std::optional<Failure>& own, const std::function<void(const Failure&)>& alone) const {
    int first = own ? ranks - rank : no_rank, failed = no_rank;  // the lowest rank that failed has the largest number
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Iallreduce(&first, &failed, 1, MPI_INT, MPI_MAX, control, &request), "MPI_Iallreduce");
    Backoff backoff;
    const double begin_s = now_s();
    for (int done = 0; done == 0;) {
        require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) backoff.pause();
        if (done == 0 && own && now_s() - begin_s > alone_s) alone(*own);
    }
    if (failed == no_rank) return;
    const int teller = ranks - failed;
    int what[2] = {0, 0};  // status, length of the message
    std::string message = own && rank == teller ? own->what() : "";
    if (own && rank == teller) {
        what[0] = static_cast<int>(own->status);
        what[1] = static_cast<int>(message.size());
    }
    require(PMPI_Bcast(what, 2, MPI_INT, teller, control), "MPI_Bcast");
    message.resize(static_cast<std::size_t>(what[1]));
    require(PMPI_Bcast(message.data(), what[1], MPI_CHAR, teller, control), "MPI_Bcast");
    throw Failure(static_cast<Status>(what[0]), message);
}

}  // namespace hocket::bench
