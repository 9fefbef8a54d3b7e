// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>

#include "writer.hpp"

inline void fold(Writer& out, std::uint16_t function, std::int64_t enter_ns, std::int64_t exit_ns,
                 const hocket_trace_fold& fold) {
    out.call(function, enter_ns, exit_ns, HOCKET_TRACE_FOLDED, fold.calls, fold.inside_ns, fold.outside_ns,
             fold.inside_cpu_ns, fold.outside_cpu_ns);
}

/// One of each kind of record.
inline Writer sample() {
    Writer out(1, 4);
    out.function(7, "MPI_Sendrecv");
    out.function(3, "MPI_Alltoallv");
    out.function(900, "MPI_Waitall");
    out.function(5, "MPI_Test");
    out.communicator(0, 1, {0, 1, 2, 3});
    out.communicator(1, 0, {1});
    out.communicator(2, 1, {3, 1}, {0, 2}, 3, 0);
    out.record(HOCKET_TRACE_DATATYPE, HOCKET_TRACE_NONE16, std::uint32_t{0}, std::int64_t{8},
               std::string("MPI_DOUBLE"));
    out.record(HOCKET_TRACE_OPERATOR, HOCKET_TRACE_NONE16, std::uint32_t{0}, std::uint32_t{1}, std::string("MPI_SUM"));
    out.record(77, 5, std::int64_t{1});  // a kind of the future
    const std::uint32_t sendrecv = HOCKET_TRACE_CPU_ENTER | HOCKET_TRACE_COMM | HOCKET_TRACE_BYTES |
                                   HOCKET_TRACE_COUNT | HOCKET_TRACE_TYPE | HOCKET_TRACE_PEER | HOCKET_TRACE_RECEIVE |
                                   HOCKET_TRACE_STATUS;
    out.call(7, 1000, 1500, sendrecv, std::int64_t{400}, std::uint32_t{2}, std::int64_t{80}, std::int64_t{10},
             std::uint32_t{0}, std::int32_t{1}, std::int32_t{5}, std::int32_t{-2}, std::int32_t{-1}, std::int64_t{800},
             std::int32_t{0}, std::int32_t{9}, std::int64_t{24});
    out.call(3, 2000, 2600, HOCKET_TRACE_SEND_BYTES | HOCKET_TRACE_RECEIVE_BYTES, std::uint32_t{2}, std::int64_t{3},
             std::int64_t{4}, std::uint32_t{3}, std::int64_t{5}, std::int64_t{6}, std::int64_t{7});
    out.call(900, 30000, 31000, HOCKET_TRACE_CPU_ENTER | HOCKET_TRACE_REQUESTS | HOCKET_TRACE_ERROR, std::int64_t{900},
             std::uint32_t{2}, std::uint64_t{11}, std::int32_t{-1}, std::int32_t{-1}, std::int64_t{-1},
             std::uint64_t{12}, std::int32_t{3}, std::int32_t{6}, std::int64_t{16}, std::int32_t{15});
    fold(out, 5, 32000, 40000, {5, 6000, 2000, 3000, 1500});
    out.footer();
    return out;
}
