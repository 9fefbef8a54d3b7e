// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>

namespace hocket::replay {

/// What a recorded function means to the replay.
enum class FunctionKind : std::uint8_t {
    local,  ///< no communication: queries, datatypes, polls that found nothing
    init,   ///< MPI_Init, MPI_Init_thread
    finalize,
    send,   ///< blocking
    isend,  ///< non-blocking, or the making of a persistent request
    recv,
    irecv,
    sendrecv,
    isendrecv,
    partitioned_send,  ///< MPI_Psend_init
    start,             ///< of persistent requests
    ready,             ///< of partitions
    complete,          ///< waits and tests
    look,              ///< a request that is complete and stays: MPI_Request_get_status, MPI_Parrived
    matched_probe,     ///< MPI_Mprobe, MPI_Improbe
    collective,        ///< on a communicator, any form
    one_sided,         ///< on a window
    file,
    set_up,  ///< makes communicators, windows or processes, by messages of its own
};

/// `name` as MPI spells it, with or without "_c".
FunctionKind kind_of(std::string_view name);

/// What a function on a window does.
enum class OneSidedKind : std::uint8_t {
    none,    ///< opens an epoch without waiting, or is local
    put,     ///< bytes to the target
    get,     ///< bytes from the target
    update,  ///< bytes to the target, which combines them with its own
    fetch,   ///< bytes to the target and back
    fence,
    flush,      ///< one target
    flush_all,  ///< all targets
    lock,
    lock_all,
    unlock,  ///< a flush, which ends the lock
    unlock_all,
    flush_local,
    flush_local_all,
    post,  ///< post, start, complete, wait: of an epoch between groups
    start,
    complete,
    wait,
};

OneSidedKind one_sided_kind_of(std::string_view name);

}  // namespace hocket::replay
