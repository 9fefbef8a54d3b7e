// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/machine.hpp"

#include <mpi.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/mpi_calls.hpp"

extern char** environ;

namespace hocket::bench {

namespace {

using Host = std::array<char, 64>;

constexpr std::array<std::string_view, 11> steering{"OMPI_MCA_",  "PRTE_MCA_", "PMIX_MCA_",      "MPICH_",
                                                    "MPIR_CVAR_", "I_MPI_",    "UCX_",           "FI_",
                                                    "ROMIO_",     "GFORTRAN_", "OMP_NUM_THREADS"};

std::string first_line(const char* path) {
    std::string line;
    std::getline(std::ifstream(path), line);
    return line;
}

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return {};
}

/// The type of the file system that a folder is on, by the longest of its mount points.
std::string file_system(const std::string& folder) {
    std::array<char, PATH_MAX> resolved{};
    const std::string path = realpath(folder.c_str(), resolved.data()) != nullptr ? resolved.data() : folder;
    std::ifstream mounts("/proc/self/mounts");
    std::string found, longest;
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string device, point, type;
        words >> device >> point >> type;
        const bool holds = point == "/" || path == point || path.starts_with(point + '/');
        if (!holds || point.size() < longest.size()) continue;
        longest = point;
        found = type;
    }
    return found;
}

std::string utc_now() {
    const time_t now = time(nullptr);
    tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

void write_environment(base::JsonWriter& json) {
    json.key("environment").begin_object();
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        for (const std::string_view prefix : steering) {
            if (text.starts_with(prefix)) json.field(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    json.end_object();
}

}  // namespace

void write_machine(base::JsonWriter& json, const std::string& folder) {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Host own{};
    gethostname(own.data(), own.size() - 1);
    std::vector<Host> all(static_cast<std::size_t>(ranks));
    require(PMPI_Gather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(), static_cast<int>(own.size()),
                        MPI_CHAR, 0, MPI_COMM_WORLD),
            "MPI_Gather");
    int version = 0, subversion = 0, length = 0;
    PMPI_Get_version(&version, &subversion);
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
    PMPI_Get_library_version(library.data(), &length);
    cpu_set_t cores{};
    sched_getaffinity(0, sizeof cores, &cores);
    json.field("time_utc", utc_now());
    json.field("host", own.data());
    const std::set<Host> hosts(all.begin(), all.end());
    json.field("hosts", hosts.size());
    json.key("host_names").begin_list();
    for (const Host& host : hosts) json.value(host.data());
    json.end_list();
    json.field("ranks", ranks);
    json.field("cores", CPU_COUNT(&cores));
    json.field("processor", processor());
    json.field("kernel", first_line("/proc/sys/kernel/osrelease"));
    json.field("load", std::strtod(first_line("/proc/loadavg").c_str(), nullptr));
    json.field("mpi", std::string_view(library.data(), strcspn(library.data(), "\n,")));
    json.field("mpi_standard", std::to_string(version) + '.' + std::to_string(subversion));
    json.field("file_system", file_system(folder));
    write_environment(json);
}

}  // namespace hocket::bench
