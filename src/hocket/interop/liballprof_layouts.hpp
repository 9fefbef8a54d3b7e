// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <map>
#include <string_view>

namespace hocket::interop {

/// The fields of a function between its two times, in the order of its C arguments. One letter a field:
///   x not used   n N count   t T datatype   p P peer   g G tag   r root   o operator   c communicator   R request
///   y Y color and key   C place of the communicator made
/// and two fields, a place and a list: S D counts to send and to receive, d displacements.
inline const std::map<std::string_view, std::string_view> liballprof_layouts = {{"Send", "xntpgc"},
                                                                                {"Bsend", "xntpgc"},
                                                                                {"Ssend", "xntpgc"},
                                                                                {"Rsend", "xntpgc"},
                                                                                {"Recv", "xntpgcx"},
                                                                                {"Isend", "xntpgcR"},
                                                                                {"Ibsend", "xntpgcR"},
                                                                                {"Issend", "xntpgcR"},
                                                                                {"Irsend", "xntpgcR"},
                                                                                {"Irecv", "xntpgcR"},
                                                                                {"Send_init", "xntpgcR"},
                                                                                {"Bsend_init", "xntpgcR"},
                                                                                {"Ssend_init", "xntpgcR"},
                                                                                {"Rsend_init", "xntpgcR"},
                                                                                {"Recv_init", "xntpgcR"},
                                                                                {"Start", "R"},
                                                                                {"Startall", "nR"},
                                                                                {"Wait", "Rx"},
                                                                                {"Waitall", "nRx"},
                                                                                {"Waitany", "nRxx"},
                                                                                {"Waitsome", "nRxxx"},
                                                                                {"Sendrecv", "xntpgxNTPGcx"},
                                                                                {"Sendrecv_replace", "xntpgPGcx"},
                                                                                {"Probe", "pgcx"},
                                                                                {"Barrier", "c"},
                                                                                {"Bcast", "xntrc"},
                                                                                {"Gather", "xntxNTrc"},
                                                                                {"Gatherv", "xntxDdTrc"},
                                                                                {"Scatter", "xntxNTrc"},
                                                                                {"Scatterv", "xSdtxNTrc"},
                                                                                {"Allgather", "xntxNTc"},
                                                                                {"Allgatherv", "xntxDdTc"},
                                                                                {"Alltoall", "xntxNTc"},
                                                                                {"Alltoallv", "xSdtxDdTc"},
                                                                                {"Reduce", "xxntorc"},
                                                                                {"Allreduce", "xxntoc"},
                                                                                {"Reduce_scatter", "xxDtoc"},
                                                                                {"Reduce_scatter_block", "xxntoc"},
                                                                                {"Scan", "xxntoc"},
                                                                                {"Exscan", "xxntoc"},
                                                                                {"Comm_size", "cx"},
                                                                                {"Comm_rank", "cx"},
                                                                                {"Comm_dup", "cC"},
                                                                                {"Comm_split", "cyYC"},
                                                                                {"Comm_create", "cxC"},
                                                                                {"Cart_create", "cxxxxC"},
                                                                                {"Cart_sub", "cxC"}};

}  // namespace hocket::interop
