// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/native_call.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace hocket::runtime {

namespace {

constexpr std::array<std::string_view, 17> names = {
    "bcast",   "reduce",   "allreduce",      "allgather",  "alltoall",  "reduce_scatter_block",
    "scatter", "gather",   "barrier",        "allgatherv", "alltoallv", "alltoallw",
    "gatherv", "scatterv", "reduce_scatter", "scan",       "exscan"};

#define HOCKET_COUNT int
#define HOCKET_HAS_BLOCKS
#define HOCKET_LAST
#define HOCKET_NAME(blocking, immediate) PMPI_##blocking
#define HOCKET_BARRIER PMPI_Barrier
int call(NativeCollective collective, const Arguments& arguments, const BlockArguments& blocks, int root,
         MPI_Comm comm) {
#include "runtime/native_calls.inc"
}
#undef HOCKET_LAST
#undef HOCKET_NAME
#undef HOCKET_BARRIER

#define HOCKET_LAST , request
#define HOCKET_NAME(blocking, immediate) PMPI_##immediate
#define HOCKET_BARRIER PMPI_Ibarrier
int start(NativeCollective collective, const Arguments& arguments, const BlockArguments& blocks, int root,
          MPI_Comm comm, MPI_Request* request) {
#include "runtime/native_calls.inc"
}
#undef HOCKET_LAST
#undef HOCKET_NAME
#undef HOCKET_COUNT
#undef HOCKET_HAS_BLOCKS

#if MPI_VERSION >= 4
#define HOCKET_COUNT MPI_Count
#define HOCKET_LAST , request
#define HOCKET_NAME(blocking, immediate) PMPI_##immediate##_c
int start_large(NativeCollective collective, const Arguments& arguments, int root, MPI_Comm comm,
                MPI_Request* request) {
#include "runtime/native_calls.inc"
}
#undef HOCKET_LAST
#undef HOCKET_NAME
#undef HOCKET_BARRIER

#define HOCKET_LAST
#define HOCKET_NAME(blocking, immediate) PMPI_##blocking##_c
#define HOCKET_BARRIER PMPI_Barrier
int call_large(NativeCollective collective, const Arguments& arguments, int root, MPI_Comm comm) {
#include "runtime/native_calls.inc"
}
#else  // such an MPI has no functions for counts that no int holds
int call_large(NativeCollective, const Arguments&, int, MPI_Comm) { return MPI_ERR_COUNT; }
int start_large(NativeCollective, const Arguments&, int, MPI_Comm, MPI_Request*) { return MPI_ERR_COUNT; }
#endif

/// Of blocks for which there are ints the large functions know nothing.
bool lacks_large(NativeCollective collective, const Arguments& arguments) {
    return has_blocks(collective) && !arguments.blocks.is_large();
}

bool is_large(const Arguments& arguments) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    return arguments.send.count > most || arguments.recv.count > most || arguments.blocks.is_large();
}

}  // namespace

std::optional<NativeCollective> native_collective_from(std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return {};
    return static_cast<NativeCollective>(found - names.begin());
}

bool combines(NativeCollective collective) {
    switch (collective) {
        case NativeCollective::reduce:
        case NativeCollective::allreduce:
        case NativeCollective::reduce_scatter_block:
        case NativeCollective::reduce_scatter:
        case NativeCollective::scan:
        case NativeCollective::exscan:
            return true;
        default:
            return false;
    }
}

bool has_blocks(NativeCollective collective) {
    return collective >= NativeCollective::allgatherv && collective <= NativeCollective::reduce_scatter;
}

const char* missing_of(NativeCollective collective, const BlockArguments& blocks, bool in_place, bool is_root) {
    using enum NativeCollective;
    const bool is_w = collective == alltoallw, is_all = collective == alltoallv || is_w;
    const bool sends = (is_all && !in_place) || (collective == scatterv && is_root);
    const bool places = is_all || collective == allgatherv || (collective == gatherv && is_root);
    const bool receives = places || collective == reduce_scatter;
    if (sends && blocks.send_counts == nullptr) return "send_counts";
    if (sends && blocks.send_displacements == nullptr) return "send_displacements";
    if (sends && is_w && blocks.send_types == nullptr) return "send_types";
    if (receives && blocks.recv_counts == nullptr) return "recv_counts";
    if (places && blocks.recv_displacements == nullptr) return "recv_displacements";
    if (is_w && blocks.recv_types == nullptr) return "recv_types";
    return nullptr;
}

int call_native(NativeCollective collective, const Arguments& arguments, const BlockArguments& blocks, int root,
                MPI_Comm comm) {
    if (is_large(arguments))
        return lacks_large(collective, arguments) ? MPI_ERR_COUNT : call_large(collective, arguments, root, comm);
    return call(collective, arguments, blocks, root, comm);
}

int start_native(NativeCollective collective, const Arguments& arguments, const BlockArguments& blocks, int root,
                 MPI_Comm comm, MPI_Request* request) {
    if (is_large(arguments))
        return lacks_large(collective, arguments) ? MPI_ERR_COUNT
                                                  : start_large(collective, arguments, root, comm, request);
    return start(collective, arguments, blocks, root, comm, request);
}

}  // namespace hocket::runtime
