// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/collectives/textbook.hpp"

#include "hocket/base/error.hpp"

namespace hocket::collectives {

std::string_view textbook_algorithm(Collective collective, std::int32_t num_ranks, std::int64_t bytes) {
    const bool power_of_two = (num_ranks & (num_ranks - 1)) == 0;
    const std::int64_t gathered_bytes = bytes * num_ranks;
    switch (collective) {
        case Collective::bcast:
            return bytes < 12'288 || num_ranks < 8 ? "binomial" : "scatter_allgather";
        case Collective::reduce:
            return "binomial";
        case Collective::allreduce:
            return bytes <= 2'048 ? "recursive_doubling" : "rabenseifner";
        case Collective::allgather:
            if (gathered_bytes >= 524'288) {
                return "ring";
            }
            return power_of_two ? "recursive_doubling" : gathered_bytes < 81'920 ? "bruck" : "ring";
        case Collective::alltoall:
            return bytes <= 256 && num_ranks >= 8 ? "bruck" : bytes <= 32'768 ? "linear" : "pairwise";
        case Collective::reduce_scatter_block:
            return "recursive_halving";
        case Collective::scatter:
            return "binomial";
        case Collective::gather:
            return "binomial";
        case Collective::barrier:
            return "dissemination";
    }
    HOCKET_ASSERT(false, "unknown collective");
}

}  // namespace hocket::collectives
