// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/collective/functions.hpp"

namespace hocket::bench {

namespace {

/// The type of the function that makes a persistent request of what a blocking function does.
template <class Blocking>
struct Persistent;
template <class... Parameters>
struct Persistent<int (*)(Parameters...)> {
    using Function = int(Parameters..., MPI_Info, MPI_Request*);
};

// How functions take their arguments. Non-blocking ones take more: the request, and persistent ones an MPI_Info.
constexpr auto nothing = [](Arguments& a, auto function, auto... more) { return function(a.comm, more...); };
constexpr auto broadcast = [](Arguments& a, auto function, auto... more) {
    return function(a.receive, a.count, a.type, a.root, a.comm, more...);
};
constexpr auto to_root = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.count, a.type, a.receive, a.receive_count, a.type, a.root, a.comm, more...);
};
constexpr auto to_root_uneven = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.count, a.type, a.receive, a.received.counts.data(), a.received.places.data(), a.type,
                    a.root, a.comm, more...);
};
constexpr auto from_root_uneven = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.sent.counts.data(), a.sent.places.data(), a.type, a.receive, a.receive_count, a.type,
                    a.root, a.comm, more...);
};
constexpr auto to_all = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.count, a.type, a.receive, a.receive_count, a.type, a.comm, more...);
};
constexpr auto to_all_uneven = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.count, a.type, a.receive, a.received.counts.data(), a.received.places.data(), a.type,
                    a.comm, more...);
};
constexpr auto exchange_uneven = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.sent.counts.data(), a.sent.places.data(), a.type, a.receive, a.received.counts.data(),
                    a.received.places.data(), a.type, a.comm, more...);
};
constexpr auto exchange_types = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.sent.counts.data(), a.sent.places.data(), a.sent.types.data(), a.receive,
                    a.received.counts.data(), a.received.places.data(), a.received.types.data(), a.comm, more...);
};
constexpr auto exchange_far_types = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.sent.counts.data(), a.sent.far_places.data(), a.sent.types.data(), a.receive,
                    a.received.counts.data(), a.received.far_places.data(), a.received.types.data(), a.comm, more...);
};
constexpr auto reduction_to_root = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm, more...);
};
constexpr auto reduction = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.receive, a.count, a.type, a.op, a.comm, more...);
};
constexpr auto reduction_uneven = [](Arguments& a, auto function, auto... more) {
    return function(a.send, a.receive, a.received.counts.data(), a.type, a.op, a.comm, more...);
};

template <auto take, auto blocking, auto nonblocking>
constexpr Collective row(const char* name, const char* function, Movement movement, bool is_uneven,
                         bool has_neighbors) {
    return {name,
            function,
            movement,
            is_uneven,
            has_neighbors,
            [](Arguments& a) { return take(a, blocking); },
            [](Arguments& a) { return take(a, nonblocking, &a.request); },
            [](Arguments& a, void* found) {
                using Function = typename Persistent<decltype(blocking)>::Function;
                return take(a, reinterpret_cast<Function*>(found), MPI_INFO_NULL, &a.request);
            }};
}

constexpr bool even = false, uneven = true, all = false, neighbors = true;

constexpr Collective table[] = {
    row<nothing, MPI_Barrier, MPI_Ibarrier>("barrier", "Barrier", Movement::none, even, all),
    row<broadcast, MPI_Bcast, MPI_Ibcast>("bcast", "Bcast", Movement::bcast, even, all),
    row<to_root, MPI_Gather, MPI_Igather>("gather", "Gather", Movement::gather, even, all),
    row<to_root_uneven, MPI_Gatherv, MPI_Igatherv>("gatherv", "Gatherv", Movement::gather, uneven, all),
    row<to_root, MPI_Scatter, MPI_Iscatter>("scatter", "Scatter", Movement::scatter, even, all),
    row<from_root_uneven, MPI_Scatterv, MPI_Iscatterv>("scatterv", "Scatterv", Movement::scatter, uneven, all),
    row<to_all, MPI_Allgather, MPI_Iallgather>("allgather", "Allgather", Movement::allgather, even, all),
    row<to_all_uneven, MPI_Allgatherv, MPI_Iallgatherv>("allgatherv", "Allgatherv", Movement::allgather, uneven, all),
    row<to_all, MPI_Alltoall, MPI_Ialltoall>("alltoall", "Alltoall", Movement::alltoall, even, all),
    row<exchange_uneven, MPI_Alltoallv, MPI_Ialltoallv>("alltoallv", "Alltoallv", Movement::alltoall, uneven, all),
    row<exchange_types, MPI_Alltoallw, MPI_Ialltoallw>("alltoallw", "Alltoallw", Movement::alltoall, uneven, all),
    row<reduction_to_root, MPI_Reduce, MPI_Ireduce>("reduce", "Reduce", Movement::reduce, even, all),
    row<reduction, MPI_Allreduce, MPI_Iallreduce>("allreduce", "Allreduce", Movement::allreduce, even, all),
    row<reduction_uneven, MPI_Reduce_scatter, MPI_Ireduce_scatter>("reduce_scatter", "Reduce_scatter",
                                                                   Movement::reduce_scatter, uneven, all),
    row<reduction, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block>("reduce_scatter_block", "Reduce_scatter_block",
                                                                        Movement::reduce_scatter, even, all),
    row<reduction, MPI_Scan, MPI_Iscan>("scan", "Scan", Movement::scan, even, all),
    row<reduction, MPI_Exscan, MPI_Iexscan>("exscan", "Exscan", Movement::exscan, even, all),
    row<to_all, MPI_Neighbor_allgather, MPI_Ineighbor_allgather>("neighbor_allgather", "Neighbor_allgather",
                                                                 Movement::allgather, even, neighbors),
    row<to_all_uneven, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv>("neighbor_allgatherv", "Neighbor_allgatherv",
                                                                          Movement::allgather, uneven, neighbors),
    row<to_all, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall>("neighbor_alltoall", "Neighbor_alltoall",
                                                               Movement::alltoall, even, neighbors),
    row<exchange_uneven, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv>("neighbor_alltoallv", "Neighbor_alltoallv",
                                                                          Movement::alltoall, uneven, neighbors),
    row<exchange_far_types, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw>("neighbor_alltoallw", "Neighbor_alltoallw",
                                                                             Movement::alltoall, uneven, neighbors),
};

}  // namespace

std::span<const Collective> collectives() { return table; }

}  // namespace hocket::bench
