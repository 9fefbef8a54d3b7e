// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/room.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hocket/base/error.hpp"
#include "hocket/base/units.hpp"

namespace hocket::bench {

namespace {

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

}  // namespace hocket::bench
