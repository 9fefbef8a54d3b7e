// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/workload.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "hocket/base/error.hpp"

namespace hocket::probes {

namespace {

std::int64_t send_blocks(const runtime::Role& role) {
    switch (role.collective) {
        case Collective::bcast:
        case Collective::barrier:
            return 0;
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::allgather:
        case Collective::gather:
            return 1;
        case Collective::scatter:
            return role.is_root() ? role.num_ranks : 0;
        case Collective::alltoall:
        case Collective::reduce_scatter_block:
            return role.num_ranks;
    }
    return 0;
}

std::int64_t recv_blocks(const runtime::Role& role) {
    switch (role.collective) {
        case Collective::barrier:
            return 0;
        case Collective::bcast:
        case Collective::allreduce:
        case Collective::reduce_scatter_block:
        case Collective::scatter:
            return 1;
        case Collective::reduce:  // elsewhere MPI may leave there what it likes, and some do
            return role.is_root() ? 1 : 0;
        case Collective::gather:
            return role.is_root() ? role.num_ranks : 0;
        case Collective::allgather:
        case Collective::alltoall:
            return role.num_ranks;
    }
    return 0;
}

template <class Number>
void fill_with(std::vector<char>& buffer, std::uint32_t seed, std::uint32_t below) {
    std::minstd_rand random(seed);
    for (std::size_t at = 0; at < buffer.size(); at += sizeof(Number)) {
        const auto number = static_cast<Number>(random() % below);
        std::memcpy(buffer.data() + at, &number, sizeof number);
    }
}

}  // namespace

Workload::Workload(const runtime::Role& role, std::int64_t bytes, std::uint32_t seed)
    : role_(role),
      seed_(seed),
      element_bytes_(bytes % 8 == 0   ? 8
                     : bytes % 4 == 0 ? 4
                                      : 1),
      type_(element_bytes_ == 8   ? MPI_DOUBLE
            : element_bytes_ == 4 ? MPI_UINT32_T
                                  : MPI_UINT8_T),
      block_elements_(bytes / element_bytes_) {
    if (block_elements_ > std::numeric_limits<int>::max()) {
        throw InvalidInput("a message of " + std::to_string(bytes) + " B is more than MPI's functions count");
    }
    send_.resize(static_cast<std::size_t>(send_blocks(role) * bytes));
    recv_.resize(static_cast<std::size_t>(recv_blocks(role) * bytes));
}

void Workload::fill(std::vector<char>& buffer, std::uint32_t seed) const {
    constexpr std::uint32_t small = 1U << 20;  // a double holds every sum of 2^33 of them exactly; integers wrap around
    if (element_bytes_ == 8) fill_with<double>(buffer, seed, small);
    if (element_bytes_ == 4) fill_with<std::uint32_t>(buffer, seed, small);
    if (element_bytes_ == 1) fill_with<std::uint8_t>(buffer, seed, 256);
}

void Workload::refill() {
    const auto own = static_cast<std::uint32_t>(role_.self.value) + 1;
    fill(send_, seed_ + own);
    const bool is_source = role_.collective == Collective::bcast && role_.is_root();
    if (is_source) {
        fill(recv_, seed_ + own);
    } else {
        std::fill(recv_.begin(), recv_.end(), '\x55');
    }
}

// The AVX code of Open MPI (4.1.4, 5.0.11) saturates sums of bytes, but only where it takes whole vectors, so that the
// result of an overflow depends on how a message is cut.
MPI_Op Workload::op() const { return element_bytes_ == 1 ? MPI_BXOR : MPI_SUM; }

runtime::Arguments Workload::arguments() {
    return {{send_.data(), block_elements_, type_}, {recv_.data(), block_elements_, type_}, op()};
}

int Workload::call_native(MPI_Comm comm) {
    const int count = static_cast<int>(block_elements_);
    const int root = role_.root.value;
    void* const send = send_.data();
    void* const recv = recv_.data();
    switch (role_.collective) {
        case Collective::bcast:
            return PMPI_Bcast(recv, count, type_, root, comm);
        case Collective::reduce:
            return PMPI_Reduce(send, recv, count, type_, op(), root, comm);
        case Collective::allreduce:
            return PMPI_Allreduce(send, recv, count, type_, op(), comm);
        case Collective::allgather:
            return PMPI_Allgather(send, count, type_, recv, count, type_, comm);
        case Collective::alltoall:
            return PMPI_Alltoall(send, count, type_, recv, count, type_, comm);
        case Collective::reduce_scatter_block:
            return PMPI_Reduce_scatter_block(send, recv, count, type_, op(), comm);
        case Collective::scatter:
            return PMPI_Scatter(send, count, type_, recv, count, type_, root, comm);
        case Collective::gather:
            return PMPI_Gather(send, count, type_, recv, count, type_, root, comm);
        case Collective::barrier:
            return PMPI_Barrier(comm);
    }
    return MPI_ERR_INTERN;
}

int Workload::start_native(MPI_Comm comm, MPI_Request* request) {
    const int count = static_cast<int>(block_elements_);
    const int root = role_.root.value;
    void* const send = send_.data();
    void* const recv = recv_.data();
    switch (role_.collective) {
        case Collective::bcast:
            return PMPI_Ibcast(recv, count, type_, root, comm, request);
        case Collective::reduce:
            return PMPI_Ireduce(send, recv, count, type_, op(), root, comm, request);
        case Collective::allreduce:
            return PMPI_Iallreduce(send, recv, count, type_, op(), comm, request);
        case Collective::allgather:
            return PMPI_Iallgather(send, count, type_, recv, count, type_, comm, request);
        case Collective::alltoall:
            return PMPI_Ialltoall(send, count, type_, recv, count, type_, comm, request);
        case Collective::reduce_scatter_block:
            return PMPI_Ireduce_scatter_block(send, recv, count, type_, op(), comm, request);
        case Collective::scatter:
            return PMPI_Iscatter(send, count, type_, recv, count, type_, root, comm, request);
        case Collective::gather:
            return PMPI_Igather(send, count, type_, recv, count, type_, root, comm, request);
        case Collective::barrier:
            return PMPI_Ibarrier(comm, request);
    }
    return MPI_ERR_INTERN;
}

}  // namespace hocket::probes
