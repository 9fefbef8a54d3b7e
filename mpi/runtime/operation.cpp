// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/operation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/patience.hpp"

namespace hocket::runtime {

int duplicate(MPI_Comm parent, MPI_Comm* own) {
    MPI_Group members = MPI_GROUP_NULL;
    int code = PMPI_Comm_group(parent, &members);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Comm_create(parent, members, own);
    PMPI_Group_free(&members);
    return code == MPI_SUCCESS ? PMPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN) : code;
}

int release(MPI_Comm* own) {
    int waits = 0, code = MPI_SUCCESS;
    do {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        code = PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, *own, &waits, &message, &status);
        if (code != MPI_SUCCESS || waits == 0) break;
        int bytes = 0;
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        std::vector<char> unwanted(static_cast<std::size_t>(std::max(0, bytes)));
        code = PMPI_Mrecv(unwanted.data(), static_cast<int>(unwanted.size()), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    } while (code == MPI_SUCCESS);
    return PMPI_Comm_free(own);
}

std::uint64_t num_call_tags() {
    static const std::uint64_t num = [] {
        int* most = nullptr;
        int found = 0;
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
        const std::uint64_t num_tags = found != 0 ? static_cast<std::uint64_t>(*most) + 1 : 32768;
        return num_tags / num_message_tags;
    }();
    return num;
}

Operation::Operation(const Role& role, RankSchedule schedule, MPI_Comm own)
    : role_(role), graph_(std::move(schedule)), memory_(role_, graph_), comm_(own), executor_(graph_, memory_, comm_) {}

int Operation::execute(const Arguments& arguments, std::uint64_t call) {
    int commutative = 1;
    if (combines(role_.collective)) PMPI_Op_commutative(arguments.op, &commutative);
    const int opened = memory_.open(arguments, comm_);
    std::optional<ReturnedErrors> errors;
    try {
        const auto first_tag = static_cast<int>(call % num_call_tags() * num_message_tags);
        executor_.start(arguments.op, commutative != 0, first_tag, errors);
        wait();
    } catch (...) {
        executor_.abandon();
        throw;
    }
    if (opened != MPI_SUCCESS) return opened;
    return executor_.error() != MPI_SUCCESS ? executor_.error() : memory_.close(arguments, comm_);
}

void Operation::wait() {
    Patience patience;
    while (!executor_.progress(patience.worried())) {
        if (executor_.advanced()) {
            patience.reset();
        } else {
            patience.pause();
            if (patience.exhausted()) executor_.lift_limits();
        }
    }
}

}  // namespace hocket::runtime
