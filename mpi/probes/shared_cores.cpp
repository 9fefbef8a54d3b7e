// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/shared_cores.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "hocket/base/json_writer.hpp"
#include "probes/measuring.hpp"

namespace hocket::probes {

namespace {

// Some time slices of the system, so that ranks that keep their cores until they are taken away are seen to do so.
constexpr double wait_s = 20e-3;

/// Of one rank; sent as bytes.
struct Place {
    std::array<char, 64>
        machine{};  ///< one start of one kernel, which hosts of a testbed and containers have in common
    std::array<char, 64> host{};
    cpu_set_t cores{};
    double cpu_s = 0;  ///< while it waited
    long switches = 0;
};

Place own_place() {
    Place place;
    std::string machine;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine);
    gethostname(place.host.data(), place.host.size() - 1);
    machine.copy(place.machine.data(), place.machine.size() - 1);
    if (machine.empty()) place.machine = place.host;
    sched_getaffinity(0, sizeof place.cores, &place.cores);
    return place;
}

struct Machine {
    std::string host;
    int ranks = 0;
    cpu_set_t cores{};
    double cpu_s = 0;
    long switches = 0;

    /// 0: not known, as with more cores than the set has room for.
    [[nodiscard]] int num_cores() const { return CPU_COUNT(&cores); }
    [[nodiscard]] double ranks_of_a_core() const {
        return num_cores() == 0 ? 0 : static_cast<double>(ranks) / num_cores();
    }
};

/// On rank 0.
Machine fullest(const Place& own, MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    std::vector<Place> places(static_cast<std::size_t>(size));
    require(PMPI_Gather(&own, sizeof own, MPI_BYTE, places.data(), sizeof own, MPI_BYTE, 0, comm), "MPI_Gather");
    std::map<std::string, Machine> machines;
    for (const Place& place : places) {
        Machine& machine = machines[place.machine.data()];
        if (machine.ranks++ == 0) machine.host = place.host.data();
        CPU_OR(&machine.cores, &machine.cores, &place.cores);
        machine.cpu_s += place.cpu_s;
        machine.switches += place.switches;
    }
    Machine found;
    for (const auto& [name, machine] : machines) {
        if (machine.ranks_of_a_core() > found.ranks_of_a_core()) found = machine;
    }
    return found;
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// The others wait in the MPI for rank 0, which computes.
void wait_for_rank_0(Place& place, MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    require(PMPI_Barrier(comm), "MPI_Barrier");
    rusage before{}, after{};
    getrusage(RUSAGE_THREAD, &before);
    for (const double end_s = now_s() + wait_s; rank == 0 && now_s() < end_s;) {
    }
    require(PMPI_Barrier(comm), "MPI_Barrier");
    getrusage(RUSAGE_THREAD, &after);
    if (rank == 0) return;
    place.cpu_s =
        seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) - seconds(before.ru_stime);
    place.switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
}

}  // namespace

std::string shared_cores(MPI_Comm comm) {
    Place own = own_place();
    int share = fullest(own, comm).ranks_of_a_core() > 1 ? 1 : 0;
    require(PMPI_Bcast(&share, 1, MPI_INT, 0, comm), "MPI_Bcast");
    if (share == 0) return "null";
    wait_for_rank_0(own, comm);
    const Machine machine = fullest(own, comm);
    base::JsonWriter json;
    json.begin_object();
    json.field("host", machine.host);
    json.field("ranks", machine.ranks);
    json.field("cores", machine.num_cores());
    json.field("turn_s", machine.cpu_s / static_cast<double>(machine.switches + 1));
    json.end_object();
    return json.text();
}

}  // namespace hocket::probes
