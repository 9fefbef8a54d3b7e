// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket-circuits: runs schedules of collectives on a circuit switch, checks all data, and prints one JSON object on
// rank 0.

#include <mpi.h>
#include <sys/prctl.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/json_writer.hpp"
#include "probes/circuit_client.hpp"
#include "probes/circuit_node.hpp"
#include "probes/circuit_runs.hpp"
#include "probes/measuring.hpp"
#include "probes/shared_file.hpp"

namespace {

using namespace hocket;
using probes::require;

constexpr const char* usage =
    "usage: hocket-circuits SOCKET FILE\n"
    "  SOCKET  of the switch's controller\n"
    "  FILE    what to run (\"hocket.circuit-runs/1\"), read by rank 0\n";

constexpr int warm_up_bytes = 300'000;    // beyond what any MPI sends at once, so that all ways of it have been gone
constexpr timespec settle{0, 5'000'000};  // what has been sent must arrive before the switch closes

/// Opens the connections of all pairs that have circuits, while the switch still connects everybody.
void warm_up(const std::vector<probes::CircuitRun>& runs, int rank, int ranks) {
    std::vector<char> joined(static_cast<std::size_t>(ranks));
    for (const auto& run : runs) {
        for (const auto& circuit : run.circuits) {
            if (circuit.a == rank) joined[static_cast<std::size_t>(circuit.b)] = 1;
            if (circuit.b == rank) joined[static_cast<std::size_t>(circuit.a)] = 1;
        }
    }
    for (const int bytes : {1, warm_up_bytes}) {
        std::vector<char> out(static_cast<std::size_t>(bytes)), in(out.size());
        // In round i a rank meets the one with which its sum is i: everybody agrees on the order.
        for (int round = 0; round < ranks; ++round) {
            const int other = (round - rank + ranks) % ranks;
            if (other == rank || joined[static_cast<std::size_t>(other)] == 0) continue;
            require(PMPI_Sendrecv(out.data(), bytes, MPI_BYTE, other, 0, in.data(), bytes, MPI_BYTE, other, 0,
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                    "MPI_Sendrecv");
        }
    }
}

using Times = std::vector<probes::CircuitNode::Times>;  // of a round, by run

/// All times of a run on rank 0.
void gather(probes::CircuitNode::Times& times, int rank) {
    const int count = static_cast<int>(times.messages_s.size());
    std::vector<double> all(times.messages_s.size());
    require(PMPI_Reduce(times.messages_s.data(), all.data(), count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD),
            "MPI_Reduce");
    if (rank == 0) times.messages_s = std::move(all);
}

void print(const std::vector<Times>& rounds) {
    base::JsonWriter json(0);
    json.begin_object();
    json.field("format", "hocket.circuit-times/1");
    json.key("runs").begin_list(base::JsonWriter::Layout::lines);
    for (std::size_t run = 0; run < rounds.front().size(); ++run) {
        json.begin_list();
        for (const Times& round : rounds) {
            json.begin_object();
            json.field("time_s", round[run].whole_s);
            json.field("circuits_s", round[run].circuits_s);
            json.field("messages_s", round[run].messages_s);
            json.end_object();
        }
        json.end_list();
    }
    json.end_list();
    json.end_object();
    std::puts(json.text().c_str());
}

void run(const char* socket, const char* file, int rank) {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const probes::CircuitRuns wanted = probes::parse_circuit_runs(probes::shared_file(file, rank), file, ranks);
    probes::CircuitClient client(socket, rank);
    std::vector<std::unique_ptr<probes::CircuitNode>> nodes;
    for (const auto& one : wanted.runs) nodes.push_back(std::make_unique<probes::CircuitNode>(one, rank));
    warm_up(wanted.runs, rank, ranks);
    prctl(PR_SET_TIMERSLACK, 1UL);  // naps are short
    std::vector<Times> rounds;
    // The first round warms up.
    for (int round = -1; round < wanted.rounds; ++round) {
        Times of_round;
        for (const auto& node : nodes) {
            require(PMPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
            nanosleep(&settle, nullptr);
            auto times = node->run(client);
            node->check();
            gather(times, rank);
            of_round.push_back(std::move(times));
        }
        if (round >= 0) rounds.push_back(std::move(of_round));
    }
    if (rank == 0) print(rounds);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        const bool asked = argc == 2 && std::strcmp(argv[1], "--help") == 0;
        std::fputs(usage, asked ? stdout : stderr);
        return asked ? 0 : 2;
    }
    if (PMPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    const int status = run_reporting_errors([&](int rank) {
        try {
            run(argv[1], argv[2], rank);
        } catch (const probes::SwitchError&) {  // on all ranks; the controller has reported it
            abort_all(1);
        }
        return 0;
    });
    PMPI_Finalize();
    return status;
}
