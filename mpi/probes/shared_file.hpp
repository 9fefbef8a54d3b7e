// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::probes {

/// The file as rank 0 reads it, on all ranks. @throws InvalidInput  on all ranks alike
inline std::string shared_file(const std::string& path, int rank) {
    std::string text;
    int length = -1;
    if (rank == 0) {
        if (std::ifstream file(path, std::ios::binary); file) {
            std::ostringstream content;
            content << file.rdbuf();
            text = content.str();
            length = static_cast<int>(std::min<std::size_t>(text.size(), std::numeric_limits<int>::max()));
        }
    }
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length < 0) throw InvalidInput(path + " cannot be read");
    text.resize(static_cast<std::size_t>(length));
    PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

}  // namespace hocket::probes
