// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>

#include "interpose/next.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

namespace {

using runtime::Buffer;

MPI_Comm private_self = MPI_COMM_NULL;  // of this rank alone, so that its error handler is nobody else's
bool refuses_aliases = false;
bool refuses_aliases_of_uneven[2] = {false, false};  // of MPI_Allgatherv and MPI_Reduce_scatter
bool demands_equal_blocks = false;                   // of MPI_Alltoall
bool forgives_root = false;  // where MPI_Gather, MPI_Reduce and MPI_Scatter have a buffer on the root alone

/// What no MPI objects to. To ask it takes as long as a small message does in shared memory.
bool is_usual(const Buffer& buffer) {
    return buffer.address != nullptr && !buffer.in_place() && buffer.count > 0 &&
           runtime::find_known(buffer.type) != nullptr;
}

// An MPI checks count, datatype and buffer of a message also when it goes nowhere. Only sign and zero of the count
// matter.
int int_of(std::int64_t count) {
    return static_cast<int>(std::clamp<std::int64_t>(count, -1, std::numeric_limits<int>::max()));
}
/// A datatype of MPI's own is usual from its first good message on, also where no schedule serves its calls.
int remember_good(MPI_Datatype type, int code) {
    if (code == MPI_SUCCESS && type != MPI_DATATYPE_NULL) runtime::describe(type);
    return code;
}
int check_send(const Buffer& from) {
    if (is_usual(from)) return MPI_SUCCESS;
    return remember_good(from.type,
                         PMPI_Send(from.address, int_of(from.count), from.type, MPI_PROC_NULL, 0, private_self));
}
int check_receive(const Buffer& to) {
    if (is_usual(to)) return MPI_SUCCESS;
    const int count = int_of(to.count);
    return remember_good(to.type,
                         PMPI_Recv(to.address, count, to.type, MPI_PROC_NULL, 0, private_self, MPI_STATUS_IGNORE));
}

// MPI_Reduce_local would report to the handler of MPI_COMM_WORLD. A good pair stays good: what MPI predefines is never
// freed, an operator of the program takes any datatype, and a predefined one no derived datatype.
bool combines_type(MPI_Op op, MPI_Datatype type) {
    thread_local MPI_Op good_op = MPI_OP_NULL;
    thread_local MPI_Datatype good_type = MPI_DATATYPE_NULL;
    if (op == MPI_OP_NULL) return false;
    if (op == good_op && type == good_type) return true;
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    int nothing = 0;
    if (next.Allreduce(MPI_IN_PLACE, &nothing, 0, type, op, private_self) != MPI_SUCCESS) return false;
    good_op = op;
    good_type = type;
    return true;
}

bool is_empty(const Buffer& buffer) { return buffer.count == 0; }

/// Whether a rank's block lies where its result goes, as far as an MPI that forbids it looks for that.
bool is_block_aliased(const Call& call, int rank) {
    const auto& [send, recv, op, blocks] = call.arguments;
    const std::int64_t received = blocks.given() ? blocks.count(rank) : recv.count;
    if (is_empty(send) || received == 0 || send.type != recv.type || send.count != received) return false;
    if (blocks.given()) return send.address == runtime::part_of(recv, blocks.displacement(rank), received).address;
    switch (call.collective) {
        case Collective::alltoall:
            return send.address == recv.address;
        case Collective::allgather:
        case Collective::gather:
            return send.address == runtime::part_of(recv, rank * recv.count, recv.count).address;
        case Collective::scatter:
            return recv.address == runtime::part_of(send, rank * send.count, send.count).address;
        default:
            return false;
    }
}

bool forbids_aliases(const Call& call) {
    if (!call.arguments.blocks.given()) return refuses_aliases;
    return refuses_aliases_of_uneven[call.collective == Collective::allgather ? 0 : 1];
}

std::int64_t bytes_of(const Buffer& buffer) { return buffer.count * runtime::size_of(buffer.type); }

/// `code` is what the MPI returns for a message in `buffer`, which the root alone has.
Verdict judge_at_root(const Buffer& buffer, int code) {
    if (code == MPI_SUCCESS) return {Verdict::serve};
    // At these every MPI looks.
    const bool is_looked_at = buffer.count < 0 || buffer.type == MPI_DATATYPE_NULL;
    return forgives_root && !is_looked_at ? Verdict{Verdict::refuse, code} : Verdict{Verdict::native};
}

Verdict judge_bcast(const Call& call, int rank) {
    const Buffer& buffer = call.arguments.recv;
    if (buffer.in_place()) return {Verdict::native};
    const int code = call.root == rank ? check_send(buffer) : check_receive(buffer);
    return {code == MPI_SUCCESS ? Verdict::serve : Verdict::native};
}

// Not inlined, nor is judge_moving: the registers that they need would be saved in every call of judge().
__attribute__((noinline)) Verdict judge_combining(const Call& call, int rank) {
    const auto& [send, recv, op, blocks] = call.arguments;
    const bool rooted = call.collective == Collective::reduce, has_result = !rooted || call.root == rank;
    if (!has_result && send.in_place()) return {Verdict::native};
    if (!combines_type(op, recv.type)) return {Verdict::native};
    if (has_result && recv.in_place()) return {Verdict::native};
    if (!send.in_place() && check_send(send) != MPI_SUCCESS) return {Verdict::native};
    if (!has_result) return {Verdict::serve};
    const int code = check_receive(recv);
    if (code != MPI_SUCCESS) return rooted ? judge_at_root(recv, code) : Verdict{Verdict::native};
    // Every MPI known refuses MPI_Reduce in one buffer.
    const bool is_aliased = !is_empty(send) && !is_empty(recv) && send.address == recv.address;
    return {is_aliased && (rooted || forbids_aliases(call)) ? Verdict::native : Verdict::serve};
}

// Each rank sends and receives; of those that are rooted, the root alone has the many blocks.
__attribute__((noinline)) Verdict judge_moving(const Call& call, int rank) {
    const auto& [send, recv, op, blocks] = call.arguments;
    const bool is_root = call.root == rank;
    const bool scatters = call.collective == Collective::scatter, gathers = call.collective == Collective::gather;
    const bool has_send = !scatters || is_root, has_recv = !gathers || is_root;
    const bool may_send_in_place = !scatters && (!gathers || is_root), may_receive_in_place = scatters && is_root;
    if (has_send && send.in_place() && !may_send_in_place) return {Verdict::native};
    if (has_recv && recv.in_place() && !may_receive_in_place) return {Verdict::native};
    const int sent = has_send && !send.in_place() ? check_send(send) : MPI_SUCCESS;
    const int received = has_recv && !recv.in_place() ? check_receive(recv) : MPI_SUCCESS;
    if (sent != MPI_SUCCESS) return scatters ? judge_at_root(send, sent) : Verdict{Verdict::native};
    if (received != MPI_SUCCESS) return gathers ? judge_at_root(recv, received) : Verdict{Verdict::native};
    // What an MPI does not look at before the first message ends in MPI_ERR_TRUNCATE where a block is too large, also
    // here.
    const bool checked = demands_equal_blocks && call.collective == Collective::alltoall && !send.in_place();
    if (checked && bytes_of(send) != bytes_of(recv)) return {Verdict::native};
    const bool is_aliased = has_send && has_recv && forbids_aliases(call) && is_block_aliased(call, rank);
    return {is_aliased ? Verdict::native : Verdict::serve};
}

/// What an MPI looks at beside counts and displacements is as of even blocks, in one buffer that has all of them.
__attribute__((noinline)) Verdict judge_uneven(const Call& call, int rank, int size) {
    const runtime::UnevenBlocks& blocks = call.arguments.blocks;
    const bool gathers = call.collective == Collective::allgather;
    if (!blocks.has_counts() || (gathers && !blocks.has_displacements())) return {Verdict::native};
    for (int i = 0; i < size; ++i) {
        if (blocks.count(i) < 0) return {Verdict::native};
    }
    Call whole = call;
    Buffer &send = whole.arguments.send, &recv = whole.arguments.recv;
    const std::int64_t total = blocks.total(size);
    recv.count = gathers || send.in_place() ? total : blocks.count(rank);
    if (!gathers) send.count = total;
    return gathers ? judge_moving(whole, rank) : judge_combining(whole, rank);
}

}  // namespace

Verdict judge(const Call& call, int rank, int size) {
    if (call.root < 0 || call.root >= size) return {Verdict::native};
    if (call.arguments.blocks.given()) return judge_uneven(call, rank, size);
    switch (call.collective) {
        case Collective::barrier:
            return {Verdict::serve};
        case Collective::bcast:
            return judge_bcast(call, rank);
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::reduce_scatter_block:
            return judge_combining(call, rank);
        default:
            return judge_moving(call, rank);
    }
}

void prepare_arguments() {
    runtime::duplicate(MPI_COMM_SELF, &private_self);
    int value = 0, values[2] = {};
    refuses_aliases = next.Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, private_self) != MPI_SUCCESS;
    const int one = 1, none = 0;
    refuses_aliases_of_uneven[0] =
        next.Allgatherv(&value, 1, MPI_INT, &value, &one, &none, MPI_INT, private_self) != MPI_SUCCESS;
    refuses_aliases_of_uneven[1] =
        next.Reduce_scatter(&value, &value, &one, MPI_INT, MPI_SUM, private_self) != MPI_SUCCESS;
    demands_equal_blocks = next.Alltoall(&value, 1, MPI_INT, values, 2, MPI_INT, private_self) != MPI_SUCCESS;
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(1, MPI_INT, &uncommitted);
    forgives_root = next.Gather(&value, 1, MPI_INT, values, 1, uncommitted, 0, private_self) == MPI_SUCCESS;
    PMPI_Type_free(&uncommitted);
}

void release_arguments() {
    if (private_self != MPI_COMM_NULL) PMPI_Comm_free(&private_self);
}

}  // namespace hocket::interpose
