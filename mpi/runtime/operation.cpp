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

bool is_commutative(MPI_Op op) {
    for (const MPI_Op usual : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD}) {  // an MPI takes longer to say so
        if (op == usual) return true;
    }
    int commutative = 0;
    return PMPI_Op_commutative(op, &commutative) == MPI_SUCCESS && commutative != 0;
}

Operation::Operation(const Role& role, RankSchedule schedule, MPI_Comm own)
    : role_(role),
      graph_(std::move(schedule)),
      memory_(role_, graph_),
      comm_(own),
      in_order_(graph_, memory_, comm_),
      executor_(graph_, memory_, comm_) {}

int Operation::execute(const Arguments& arguments, std::uint64_t call) {
    const int opened = memory_.open(arguments, comm_);
    const std::uint64_t number = call < num_call_tags() ? call : call % num_call_tags();
    const int code = execute_opened(arguments.op, static_cast<int>(number * num_message_tags));
    if (opened != MPI_SUCCESS) return opened;
    return code != MPI_SUCCESS ? code : memory_.close(arguments, comm_);
}

int Operation::execute_opened(MPI_Op op, int first_tag) {
    const bool commutative = !combines(role_.collective) || is_commutative(op);
    if (in_order_.serves()) return in_order_.execute(op, commutative, first_tag);
    std::optional<ReturnedErrors> errors;
    try {
        executor_.start(op, commutative, first_tag, errors);
        Patience patience;
        while (!executor_.progress(patience.worried())) {
            if (executor_.advanced()) {
                patience.reset();
            } else {
                patience.pause();
                if (patience.exhausted()) executor_.lift_limits();
            }
        }
    } catch (...) {
        executor_.abandon();
        throw;
    }
    return executor_.error();
}

}  // namespace hocket::runtime
