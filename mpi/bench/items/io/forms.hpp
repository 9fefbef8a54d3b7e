// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <span>

namespace hocket::bench {

/// What a rank reads or writes in one call.
struct Access {
    MPI_File file;
    MPI_Offset offset;  ///< of the forms with an explicit offset
    void* buffer;
    int count;  ///< bytes
    MPI_Status status;
};

enum class Position { offset, individual, shared };  ///< where a form reads or writes

/// One of MPI's functions to read or write a file; non-blocking and split ones with their completion.
struct Form {
    const char* name;  ///< as in MPI_File_NAME; of split forms with _begin alone
    Position position;
    bool is_collective;
    bool writes;
    int (*run)(Access&);  ///< returns MPI's error code
};

std::span<const Form> forms();

}  // namespace hocket::bench
