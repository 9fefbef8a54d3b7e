// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <tuple>

#include "interpose/call.hpp"
#include "interpose/functions.hpp"

namespace hocket::interpose {

inline runtime::Buffer buffer_of(const void* address, std::int64_t count, MPI_Datatype type) {
    return {const_cast<void*>(address), count, type};  // only read where it is one to send
}

/// send, recv, count, type, op, ...
template <class Arguments>
Call combining(Collective collective, const Arguments& all, int root, MPI_Comm comm) {
    const MPI_Datatype type = std::get<3>(all);
    const runtime::Buffer send = buffer_of(std::get<0>(all), std::get<2>(all), type);
    const runtime::Buffer recv = buffer_of(std::get<1>(all), std::get<2>(all), type);
    return {collective, {send, recv, std::get<4>(all)}, root, comm};
}

/// send, count, type, recv, count, type, ...
template <class Arguments>
Call moving(Collective collective, const Arguments& all, int root, MPI_Comm comm) {
    const runtime::Buffer send = buffer_of(std::get<0>(all), std::get<1>(all), std::get<2>(all));
    const runtime::Buffer recv = buffer_of(std::get<3>(all), std::get<4>(all), std::get<5>(all));
    return {collective, {send, recv}, root, comm};
}

/// send, count, type, recv, counts, displacements, type, ...
template <class Arguments>
Call gathering_uneven(const Arguments& all, MPI_Comm comm) {
    const runtime::Buffer send = buffer_of(std::get<0>(all), std::get<1>(all), std::get<2>(all));
    const runtime::UnevenBlocks blocks(std::get<4>(all), std::get<5>(all));
    return {
        Collective::allgather, {send, buffer_of(std::get<3>(all), 0, std::get<6>(all)), MPI_OP_NULL, blocks}, 0, comm};
}

/// send, recv, counts, type, op, ...
template <class Arguments>
Call combining_uneven(const Arguments& all, MPI_Comm comm) {
    const MPI_Datatype type = std::get<3>(all);
    const runtime::UnevenBlocks blocks(std::get<2>(all));
    return {Collective::reduce_scatter_block,
            {buffer_of(std::get<0>(all), 0, type), buffer_of(std::get<1>(all), 0, type), std::get<4>(all), blocks},
            0,
            comm};
}

/// The call that a non-blocking function was given; nothing for collectives that no schedule serves.
template <Function function, class Arguments>
std::optional<Call> call_of(const Arguments& all) {
    if constexpr (function == Function::Ibarrier) {
        return Call{Collective::barrier, {}, 0, std::get<0>(all)};
    } else if constexpr (function == Function::Ibcast) {
        return Call{Collective::bcast,
                    {{}, buffer_of(std::get<0>(all), std::get<1>(all), std::get<2>(all))},
                    std::get<3>(all),
                    std::get<4>(all)};
    } else if constexpr (function == Function::Ireduce) {
        return combining(Collective::reduce, all, std::get<5>(all), std::get<6>(all));
    } else if constexpr (function == Function::Iallreduce) {
        return combining(Collective::allreduce, all, 0, std::get<5>(all));
    } else if constexpr (function == Function::Ireduce_scatter_block) {
        return combining(Collective::reduce_scatter_block, all, 0, std::get<5>(all));
    } else if constexpr (function == Function::Iallgather) {
        return moving(Collective::allgather, all, 0, std::get<6>(all));
    } else if constexpr (function == Function::Iallgatherv) {
        return gathering_uneven(all, std::get<7>(all));
    } else if constexpr (function == Function::Ireduce_scatter) {
        return combining_uneven(all, std::get<5>(all));
    } else if constexpr (function == Function::Ialltoall) {
        return moving(Collective::alltoall, all, 0, std::get<6>(all));
    } else if constexpr (function == Function::Iscatter) {
        return moving(Collective::scatter, all, std::get<6>(all), std::get<7>(all));
    } else if constexpr (function == Function::Igather) {
        return moving(Collective::gather, all, std::get<6>(all), std::get<7>(all));
    } else {
        return {};
    }
}

}  // namespace hocket::interpose
