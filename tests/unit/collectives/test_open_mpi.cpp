// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/collectives/open_mpi.hpp"

using namespace hocket;
using collectives::open_mpi_algorithm;

TEST_CASE("Open MPI's choices are algorithms that there are, at all sizes and numbers of ranks") {
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        for (const std::int32_t ranks : {2, 3, 7, 8, 31, 100, 1000, 5000, std::numeric_limits<std::int32_t>::max()}) {
            for (std::int64_t bytes = 0; bytes < std::int64_t{1} << 40; bytes = 2 * bytes + 1) {
                const auto name = open_mpi_algorithm("Open MPI 5.0.10", algorithm.collective, ranks, bytes);
                CHECK(name == open_mpi_algorithm("Open MPI 4.1.4", algorithm.collective, ranks, bytes));
                if (!name.empty()) CHECK(collectives::find_algorithm(algorithm.collective, name).name == name);
            }
        }
    }
}

TEST_CASE("Open MPI's choices are those of its source") {
    const auto of = [](Collective collective, std::int32_t ranks, std::int64_t bytes) {
        return open_mpi_algorithm("Open MPI 4.1.4", collective, ranks, bytes);
    };
    CHECK(of(Collective::bcast, 8, 16'384) == "binomial");
    CHECK(of(Collective::bcast, 8, 32'767) == "binomial");
    CHECK(of(Collective::bcast, 8, 32'768) == "linear");
    CHECK(of(Collective::bcast, 16, 1 << 20) == "scatter_recursive_doubling");
    CHECK(of(Collective::bcast, 7, 1 << 20).empty());  // four chains
    CHECK(of(Collective::allreduce, 5000, 20'000) == "recursive_doubling");
    CHECK(of(Collective::allgather, 8, 1 << 20) == "recursive_doubling");
    CHECK(of(Collective::allgather, 7, 1 << 20) == "bruck");
    CHECK(of(Collective::allgather, 48, 2'000) == "neighbor_exchange");
    CHECK(of(Collective::allgather, 47, 2'000) == "ring");
    CHECK(of(Collective::barrier, 8, 0) == "dissemination");
}

TEST_CASE("nothing is said of other MPIs") {
    for (const std::string_view mpi : {"", "MPICH 4.0.2", "Open MPI 4.0.7", "Open MPI 6.0.0", "Open MPI"})
        CHECK(open_mpi_algorithm(mpi, Collective::bcast, 8, 1 << 20).empty());
}
