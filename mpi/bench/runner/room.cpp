// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/room.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "bench/runner/exit_status.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/units.hpp"

namespace hocket::bench {

namespace {

/// Variables of launchers: how many processes, and which one this is.
struct Launched {
    const char* processes;
    const char* rank;
    const char* launcher;
};
constexpr std::array<Launched, 4> launchers{{{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
                                             {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpiexec"},
                                             {"PMI_SIZE", "PMI_RANK", "mpiexec"},
                                             {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run"}}};

/// That a rank has in files at once.
std::int64_t file_bytes(const Point& point) {
    if (!point.item->name.starts_with("io.")) return 0;
    std::int64_t operations = 1;
    for (const auto& [name, value] : point.options) {
        if (name == "operations") operations = std::stoi(value);
    }
    return std::max<std::int64_t>(point.bytes, 1) * operations;
}

}  // namespace

void check_room(const Plan& plan, const std::string& folder, int rank) {
    std::int64_t bytes = 0;
    for (const Point& point : plan.points) bytes = std::max(bytes, file_bytes(point));
    if (bytes == 0) return;
    const std::string path = folder + "/hocket-bench-room-" + std::to_string(rank);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int problem = file < 0 ? errno : posix_fallocate(file, 0, bytes);
    if (file >= 0) {
        close(file);
        unlink(path.c_str());
    }
    if (problem == 0 || problem == EINVAL || problem == EOPNOTSUPP) return;  // a file system that cannot tell
    throw InvalidInput(folder + ": rank " + std::to_string(rank) + " cannot write " + base::print_bytes(bytes) +
                           " there: " + std::strerror(problem),
                       "name another folder with --folder");
}

void check_launch(int ranks) {
    if (ranks > 1) return;
    for (const auto& [processes, rank, launcher] : launchers) {
        const char* const number = std::getenv(processes);
        if (number == nullptr || std::atoi(number) < 2) continue;
        const char* const own = std::getenv(rank);
        if (own != nullptr && std::atoi(own) != 0) std::_Exit(exit_invalid);  // the first one says it for all
        throw InvalidInput(
            std::string(launcher) + " has started " + number +
                " processes, and each is alone in its MPI_COMM_WORLD: the launcher is not of this MPI",
            "start it with the mpiexec of the MPI that it was built for, or with srun --mpi=pmix or pmi2");
    }
}

}  // namespace hocket::bench
