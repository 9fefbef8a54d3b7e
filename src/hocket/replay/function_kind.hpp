// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>

namespace hocket::replay {

/// What a recorded function means to the replay.
enum class FunctionKind : std::uint8_t {
    local,  ///< no communication worth time: queries, datatypes, communicator management
    init,   ///< MPI_Init, MPI_Init_thread
    finalize,
    send,   ///< blocking
    isend,  ///< non-blocking, or the making of a persistent request
    recv,
    irecv,
    sendrecv,
    start,       ///< of persistent requests
    complete,    ///< waits and tests
    collective,  ///< on a communicator, any form
    file,
    unsupported,  ///< communicates in a way that is not modelled
};

/// `name` as MPI spells it, with or without "_c".
FunctionKind kind_of(std::string_view name);

}  // namespace hocket::replay
