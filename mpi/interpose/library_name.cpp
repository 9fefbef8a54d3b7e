// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/library_name.hpp"

#include <mpi.h>

#include <array>
#include <utility>

namespace hocket::interpose {

std::string library_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    const std::string version = text.data();
    constexpr std::array<std::pair<const char*, const char*>, 3> families{
        {{"Open MPI v", "Open MPI "}, {"MPICH Version:", "MPICH "}, {"Intel(R) MPI Library ", "Intel MPI "}}};
    for (const auto& [title, name] : families) {
        const std::size_t at = version.find(title);
        if (at == std::string::npos) continue;
        const std::size_t begin = version.find_first_of("0123456789", at);
        if (begin == std::string::npos) break;
        return name + version.substr(begin, version.find_first_of(", \t\n", begin) - begin);
    }
    return {};
}

}  // namespace hocket::interpose
