// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/operation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/backoff.hpp"

namespace hocket::runtime {

// Not MPI_Comm_dup, which would call the program's functions that copy attributes. Not MPI_Comm_create: the group that
// MPICH 5.0.2 gives for a topology smaller than its parent has ranks that are not in it, and what is made of that waits
// for them.
int duplicate(MPI_Comm parent, MPI_Comm* private_comm) {
    const int code = PMPI_Comm_split(parent, 0, 0, private_comm);
    return code == MPI_SUCCESS ? PMPI_Comm_set_errhandler(*private_comm, MPI_ERRORS_RETURN) : code;
}

int release(MPI_Comm* private_comm) {
    int waits = 0, code = MPI_SUCCESS;
    do {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        code = PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, *private_comm, &waits, &message, &status);
        if (code != MPI_SUCCESS || waits == 0) break;
        int bytes = 0;
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        std::vector<char> unwanted(static_cast<std::size_t>(std::max(0, bytes)));
        code = PMPI_Mrecv(unwanted.data(), static_cast<int>(unwanted.size()), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    } while (code == MPI_SUCCESS);
    return PMPI_Comm_free(private_comm);
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
    for (const MPI_Op usual : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD}) {  // an MPI takes longer to answer
        if (op == usual) return true;
    }
    int commutative = 0;
    return PMPI_Op_commutative(op, &commutative) == MPI_SUCCESS && commutative != 0;
}

bool is_predefined(MPI_Op op) {
    for (const MPI_Op known : {MPI_OP_NULL, MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                               MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP})
        if (op == known) return true;
    return false;
}

Operation::Operation(const Role& role, std::shared_ptr<const RankGraph> graph, MPI_Comm private_comm)
    : role_(role),
      graph_(std::move(graph)),
      memory_(role_, *graph_),
      comm_(private_comm),
      in_order_(*graph_, memory_, comm_),
      executor_(*graph_, memory_, comm_) {}

int Operation::execute(const Arguments& arguments, std::uint64_t call) {
    begin(arguments, call);
    Backoff backoff;
    while (!advance(backoff.is_long())) {
        if (advanced()) {
            backoff.reset();
        } else {
            backoff.pause();
            if (backoff.is_very_long()) lift_limits();
        }
    }
    return end();
}

void Operation::begin(const Arguments& arguments, std::uint64_t call) {
    arguments_ = arguments;
    opened_ = memory_.open(arguments, comm_);
    const bool commutative = !combines(role_.collective) || is_commutative(arguments.op);
    const std::uint64_t number = call < num_call_tags() ? call : call % num_call_tags();
    const auto first_tag = static_cast<int>(number * num_message_tags);
    in_order_serves_ = in_order_.serves();
    if (in_order_serves_) {
        in_order_.start(arguments.op, commutative, first_tag, errors_);
    } else {
        executor_.start(arguments.op, commutative, first_tag, errors_);
    }
}

bool Operation::advance(bool at_all) {
    try {
        return in_order_serves_ ? in_order_.progress() : executor_.progress(at_all);
    } catch (...) {
        abandon();
        throw;
    }
}

int Operation::end() {
    errors_.reset();
    if (opened_ != MPI_SUCCESS) return opened_;
    const int code = in_order_serves_ ? in_order_.error() : executor_.error();
    return code != MPI_SUCCESS ? code : memory_.close(arguments_, comm_);
}

void Operation::abandon() noexcept {
    if (in_order_serves_) {
        in_order_.abandon();
    } else {
        executor_.abandon();
    }
    errors_.reset();
}

}  // namespace hocket::runtime
