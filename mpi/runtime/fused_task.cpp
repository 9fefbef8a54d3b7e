// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/fused_task.hpp"

#include <cstring>
#include <utility>

namespace hocket::runtime {

namespace {

// Beyond that what a message takes is its bytes, and to copy them costs more than a message saves.
constexpr std::int64_t max_call_bytes = 1024;

std::size_t bytes_of(const Arguments& call) {
    return static_cast<std::size_t>(call.recv.count * describe(call.recv.type).size_bytes);
}

}  // namespace

bool FusedTask::suits(Collective collective, const Arguments& arguments) {
    // Blocks of others would have to be sorted. With other collectives the ranks may not have the same count and type.
    if (collective != Collective::allreduce && collective != Collective::reduce) return false;
    const TypeInfo type = describe(arguments.recv.type);
    return type.named && type.contiguous && type.size_bytes > 0 &&
           arguments.recv.count <= max_call_bytes / type.size_bytes;
}

int FusedTask::bind(std::vector<const Arguments*> calls) {
    calls_ = std::move(calls);
    std::int64_t count = 0, bytes = 0;
    for (const Arguments* call : calls_) {
        count += call->recv.count;
        bytes += static_cast<std::int64_t>(bytes_of(*call));
    }
    buffer_ = region_.at_least(bytes);
    const MPI_Datatype type = calls_.front()->recv.type;
    Arguments all{{MPI_IN_PLACE, count, type}, {buffer_, count, type}, calls_.front()->op};
    if (role_.collective == Collective::reduce && !role_.is_root()) all.send.address = buffer_;
    return whole_->bind(all);
}

void FusedTask::arm(std::uint64_t call) {
    char* to = buffer_;
    for (const Arguments* one : calls_) {
        const std::size_t bytes = bytes_of(*one);
        if (bytes > 0) std::memcpy(to, one->send.in_place() ? one->recv.address : one->send.address, bytes);
        to += bytes;
    }
    whole_->arm(call);
}

Task::State FusedTask::advance() noexcept {
    const State state = whole_->advance();
    if (state == State::done) hand_over();
    return state;
}

void FusedTask::complete() noexcept {
    whole_->complete();
    hand_over();
}

void FusedTask::hand_over() noexcept {
    if (error() != MPI_SUCCESS || (role_.collective == Collective::reduce && !role_.is_root())) return;
    const char* from = buffer_;
    for (const Arguments* call : calls_) {
        const std::size_t bytes = bytes_of(*call);
        if (bytes > 0) std::memcpy(call->recv.address, from, bytes);
        from += bytes;
    }
}

}  // namespace hocket::runtime
