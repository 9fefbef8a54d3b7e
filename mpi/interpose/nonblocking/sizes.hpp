// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace hocket::interpose {

// How large the message of a call is, as this rank sees it, from the positions of the parameters that determine it.
// `arguments` is a tuple of all of them; the call was successful, so that what matters in it is good.

inline std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) {
    // A message of nothing, or to MPI_PROC_NULL, may have no datatype. To ask for its size would call an error handler.
    if (count == 0 || type == MPI_DATATYPE_NULL) return 0;
    int size = 0;
    return PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 ? count * size : count;
}

constexpr std::size_t no_operator = static_cast<std::size_t>(-1);

struct NoBlock {
    static constexpr std::size_t op = no_operator;
    template <class Arguments>
    static std::int64_t bytes(const Arguments&, MPI_Comm) {
        return 0;
    }
};

template <std::size_t count, std::size_t type>
struct Block {
    static constexpr std::size_t op = no_operator;
    template <class Arguments>
    static std::int64_t bytes(const Arguments& arguments, MPI_Comm) {
        return bytes_of(static_cast<std::int64_t>(std::get<count>(arguments)), std::get<type>(arguments));
    }
};

/// Of this rank alone; with MPI_IN_PLACE the parameters do not determine it.
template <std::size_t buffer, std::size_t count, std::size_t type>
struct OwnBlock {
    static constexpr std::size_t op = no_operator;
    template <class Arguments>
    static std::int64_t bytes(const Arguments& arguments, MPI_Comm comm) {
        return std::get<buffer>(arguments) == MPI_IN_PLACE ? 0 : Block<count, type>::bytes(arguments, comm);
    }
};

/// One for each rank.
template <std::size_t counts, std::size_t type>
struct Blocks {
    static constexpr std::size_t op = no_operator;
    template <class Arguments>
    static std::int64_t bytes(const Arguments& arguments, MPI_Comm comm) {
        int num_ranks = 0;
        PMPI_Comm_size(comm, &num_ranks);
        std::int64_t sum = 0;
        for (int i = 0; i < num_ranks; ++i) {
            const auto count = static_cast<std::int64_t>(std::get<counts>(arguments)[i]);
            if (count > 0) sum += bytes_of(count, type_of(std::get<type>(arguments), i));
        }
        return sum;
    }
    static MPI_Datatype type_of(MPI_Datatype one, int) { return one; }
    static MPI_Datatype type_of(const MPI_Datatype* each, int i) { return each[i]; }
};

template <std::size_t count, std::size_t type>
struct Combined : Block<count, type> {
    static constexpr std::size_t op = type + 1;
};
template <std::size_t counts, std::size_t type>
struct CombinedBlocks : Blocks<counts, type> {
    static constexpr std::size_t op = type + 1;
};

}  // namespace hocket::interpose
