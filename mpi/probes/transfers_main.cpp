// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket-transfers: measures transfers between ranks, alone and at the same time, and prints one JSON object on rank 0.
//
// A transfer ends when an empty answer to its last message is back: so it is timed by its source alone, and the clocks
// of the hosts need not agree. Receives are posted before the start, so that no message waits for one or is copied
// twice.

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/json_writer.hpp"
#include "probes/measuring.hpp"
#include "probes/shared_file.hpp"
#include "probes/transfer_costs.hpp"
#include "probes/transfers.hpp"

namespace {

using namespace hocket;
using probes::require, probes::wait_aside;

constexpr const char* usage =
    "usage: hocket-transfers FILE\n"
    "  FILE    what to measure (\"hocket.transfers/1\"), read by rank 0\n";

constexpr std::int64_t warm_up_bytes = 65536;  // above what TCP sends before the first acknowledgement

/// Goes on sooner than after a nap; and MPICH's MPI_Wait does not give way, so that of more ranks than cores some would
/// start several time slices late.
void wait_yielding(MPI_Request& request) {
    for (int done = 0; done == 0;) {
        require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) sched_yield();
    }
}

void start_together(bool takes_part) {
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    if (takes_part) {
        wait_yielding(request);
    } else {
        wait_aside(request);
    }
}

/// One rank's part of one experiment; its buffers are made, and touched, before the clock runs.
class Part {
public:
    Part(const probes::Experiment& experiment, int rank) : alone_(experiment.size() == 1) {
        for (int i = 0; i < static_cast<int>(experiment.size()); ++i) {
            const auto& transfer = experiment[static_cast<std::size_t>(i)];
            if (transfer.source == rank || transfer.target == rank)
                sides_.emplace_back(transfer, i, transfer.source == rank);
        }
    }

    bool empty() const { return sides_.empty(); }

    /// Adds the seconds of those transfers that start here to `times_s`, indexed by the experiment's transfers.
    void run(std::vector<double>& times_s) {
        for (auto& side : sides_) side.post_receives();
        start_together(true);
        // Ranks leave a barrier one after another, up to a millisecond apart where there are more of them than cores.
        // Of a small message that would be the greater part.
        if (alone_) sides_.front().meet();
        const double begin_s = now_s();
        for (auto& side : sides_) side.post_sends();
        std::size_t open = sides_.size();
        Backoff backoff;
        while (open > 0) {
            for (auto& side : sides_) {
                if (side.ended || !side.advance()) continue;
                side.ended = true;
                --open;
                if (side.sends) times_s[static_cast<std::size_t>(side.index)] = now_s() - begin_s;
            }
            if (open == 0) break;
            // A nap would be measured; but where many ranks of one machine poll at once, some without giving way in the
            // MPI, those that have data wait longer than that for a core.
            if (alone_) {
                sched_yield();
            } else {
                backoff.pause();
            }
        }
        for (auto& side : sides_) side.finish();
    }

private:
    static constexpr int ready_tag = 2;  // of an experiment with one transfer

    /// One end of a transfer. The source waits for the answer, the target for all messages and then answers.
    struct Side {
        Side(const probes::Transfer& given, int index_, bool sends_)
            : transfer(given),
              index(index_),
              sends(sends_),
              requests(static_cast<std::size_t>(given.count), MPI_REQUEST_NULL) {
            const std::int64_t messages = sends ? 1 : given.count;  // one buffer serves all sends
            buffer.assign(static_cast<std::size_t>(given.bytes * messages), 'h');
        }

        void post_receives() {
            ended = false;
            if (sends) {
                require(PMPI_Irecv(nullptr, 0, MPI_CHAR, transfer.target, answer_tag(), MPI_COMM_WORLD, &answer),
                        "MPI_Irecv");
                return;
            }
            for (std::size_t i = 0; i < requests.size(); ++i) {
                char* const place = buffer.data() + i * static_cast<std::size_t>(transfer.bytes);
                require(PMPI_Irecv(place, static_cast<int>(transfer.bytes), MPI_CHAR, transfer.source, data_tag(),
                                   MPI_COMM_WORLD, &requests[i]),
                        "MPI_Irecv");
            }
        }

        /// The source goes on when the target has left the barrier.
        void meet() const {
            if (!sends) {
                require(PMPI_Send(nullptr, 0, MPI_CHAR, transfer.source, ready_tag, MPI_COMM_WORLD), "MPI_Send");
                return;
            }
            MPI_Request ready = MPI_REQUEST_NULL;
            require(PMPI_Irecv(nullptr, 0, MPI_CHAR, transfer.target, ready_tag, MPI_COMM_WORLD, &ready), "MPI_Irecv");
            wait_yielding(ready);
        }

        void post_sends() {
            if (!sends) return;
            for (auto& request : requests) {
                require(PMPI_Isend(buffer.data(), static_cast<int>(transfer.bytes), MPI_CHAR, transfer.target,
                                   data_tag(), MPI_COMM_WORLD, &request),
                        "MPI_Isend");
            }
        }

        /// Whether this end is done now.
        bool advance() {
            int done = 0;
            if (sends) {
                require(PMPI_Test(&answer, &done, MPI_STATUS_IGNORE), "MPI_Test");
                return done != 0;
            }
            require(PMPI_Testall(transfer.count, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
            if (done == 0) return false;
            require(PMPI_Isend(nullptr, 0, MPI_CHAR, transfer.source, answer_tag(), MPI_COMM_WORLD, &answer),
                    "MPI_Isend");
            return true;
        }

        void finish() {
            if (sends) {
                require(PMPI_Waitall(transfer.count, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
            } else {
                require(PMPI_Wait(&answer, MPI_STATUS_IGNORE), "MPI_Wait");
            }
        }

        int data_tag() const { return 2 * index; }
        int answer_tag() const { return 2 * index + 1; }

        probes::Transfer transfer;
        int index;
        bool sends;
        bool ended = false;
        std::vector<char> buffer;
        std::vector<MPI_Request> requests;
        MPI_Request answer = MPI_REQUEST_NULL;
    };

    bool alone_;
    std::vector<Side> sides_;
};

/// Where a rank runs. Ranks that share memory have the same `first`; two hosts may have the same name.
struct Place {
    char name[MPI_MAX_PROCESSOR_NAME];
    int first;  ///< the least rank there
};

/// Of all ranks, on rank 0.
std::vector<Place> places(int rank, int ranks) {
    Place own{"", rank};
    int length = 0;
    require(PMPI_Get_processor_name(own.name, &length), "MPI_Get_processor_name");
    MPI_Comm shared = MPI_COMM_NULL;
    require(PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared),
            "MPI_Comm_split_type");
    require(PMPI_Bcast(&own.first, 1, MPI_INT, 0, shared), "MPI_Bcast");
    PMPI_Comm_free(&shared);
    std::vector<Place> all(static_cast<std::size_t>(ranks));
    require(PMPI_Gather(&own, sizeof(Place), MPI_BYTE, all.data(), sizeof(Place), MPI_BYTE, 0, MPI_COMM_WORLD),
            "MPI_Gather");
    return all;
}

/// [round][experiment][transfer], on rank 0.
using Times = std::vector<std::vector<std::vector<double>>>;

Times measure(const probes::Campaign& campaign, int rank) {
    Times times;
    const double begin_s = now_s();
    // The first round warms up: connections, windows and pages. It is not reported, and need not be long.
    for (int round = -1; round < campaign.rounds; ++round) {
        int go_on = round <= 0 || now_s() - begin_s < campaign.seconds ? 1 : 0;
        PMPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (go_on == 0) break;
        std::vector<std::vector<double>> of_round;
        for (auto experiment : campaign.experiments) {
            if (round < 0) {
                for (auto& transfer : experiment) transfer.bytes = std::min(transfer.bytes, warm_up_bytes);
            }
            std::vector<double> own_s(experiment.size(), 0.0), all_s(experiment.size());
            if (Part part(experiment, rank); part.empty()) {
                start_together(false);
            } else {
                part.run(own_s);
            }
            MPI_Request request = MPI_REQUEST_NULL;
            require(PMPI_Ireduce(own_s.data(), all_s.data(), static_cast<int>(own_s.size()), MPI_DOUBLE, MPI_SUM, 0,
                                 MPI_COMM_WORLD, &request),
                    "MPI_Ireduce");
            wait_aside(request);
            of_round.push_back(std::move(all_s));
        }
        if (rank == 0 && round >= 0) times.push_back(std::move(of_round));
    }
    return times;
}

void print(const Times& times, const std::vector<probes::CoreCosts>& costs, const std::vector<Place>& places) {
    base::JsonWriter json(0);
    json.begin_object();
    json.field("format", "hocket.transfer-times/1");
    json.key("places").begin_list();
    for (const Place& place : places) {
        json.begin_list();
        json.value(place.name);
        json.value(place.first);
        json.end_list();
    }
    json.end_list();
    json.key("times_s").begin_list(base::JsonWriter::Layout::lines);
    for (const auto& round : times) json.value(round);
    json.end_list();
    json.key("costs").begin_list();
    for (const auto& of_pair : costs) json.value(of_pair.values());
    json.end_list();
    json.end_object();
    std::puts(json.text().c_str());
}

void run(const char* path, int rank) {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const probes::Campaign campaign = probes::parse_campaign(probes::shared_file(path, rank), path, ranks);
    const auto where = places(rank, ranks);
    const Times times = measure(campaign, rank);
    std::vector<probes::CoreCosts> costs;
    for (const auto& [source, target] : campaign.costs) {
        costs.push_back(probes::measure_core_costs(source, target, rank));
    }
    if (rank == 0) print(times, costs, where);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 || std::strcmp(argv[1], "--help") == 0) {
        std::fputs(usage, argc == 2 ? stdout : stderr);
        return argc == 2 ? 0 : 2;
    }
    if (PMPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    const int status = run_reporting_errors([&](int rank) {
        run(argv[1], rank);
        return 0;
    });
    PMPI_Finalize();
    return status;
}
