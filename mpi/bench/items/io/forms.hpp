// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <span>
#include <string_view>

namespace hocket::bench {

/// What a rank reads or writes in one call.
struct Access {
    MPI_File file = MPI_FILE_NULL;
    MPI_Offset offset = 0;  ///< of the forms with an explicit offset
    void* buffer = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    MPI_Status status{};
    MPI_Request request = MPI_REQUEST_NULL;
};

enum class Position { offset, individual, shared };  ///< where a form reads or writes

/// One of MPI's functions to read or write a file. Its functions return MPI's error code.
struct Form {
    const char* name;  ///< as in MPI_File_NAME; of split forms with _begin
    Position position;
    bool is_collective;
    bool writes;
    int (*start)(Access&);     ///< all of it, where there is no other half
    int (*complete)(Access&);  ///< of non-blocking and split forms, else null

    [[nodiscard]] int run(Access& access) const {
        const int code = start(access);
        return code != MPI_SUCCESS || complete == nullptr ? code : complete(access);
    }
};

std::span<const Form> forms();
const Form& form_of(std::string_view name);

}  // namespace hocket::bench
