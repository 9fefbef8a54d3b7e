// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hocket/plan/plan.hpp"
#include "interpose/call_kinds.hpp"
#include "interpose/nonblocking/choices.hpp"
#include "interpose/nonblocking/collective_queue.hpp"
#include "interpose/plan_in_force.hpp"
#include "runtime/operation.hpp"
#include "selection/self_check.hpp"

namespace hocket::interpose {

using selection::SelfCheck;

/// A schedule that is ready for calls with this root and number of segments.
struct Prepared {
    Rank root;
    std::int32_t asked_segments;  ///< as segments_of() has them
    std::unique_ptr<runtime::Operation> operation;
};

/// An entry on a communicator that it serves.
struct Route {
    CallKind kind;  ///< what it serves there
    const PlanEntry* entry;
    EntryCount* count;
    bool is_contender = false;         ///< native until a comparison shows it to be faster
    std::vector<Prepared> operations;  ///< those used last; the last one at the end
};

/// What is known of one of the program's communicators. Lives as an attribute of it, and is gone when it is freed.
struct Communicator {
    MPI_Comm program_comm;
    /// Carries the messages of schedules; made at the first call of a collective that has routes, which all ranks make.
    MPI_Comm private_comm = MPI_COMM_NULL;
    bool has_none = false;  ///< and cannot have it, so that its calls stay native; all ranks know
    std::uint64_t call =
        0;  ///< number of the present one among those of collectives that have routes, since `private_comm` was made
    int rank = 0;
    int size = 0;
    std::uint64_t sequence = 0;     ///< counts the communicators with the same members
    std::vector<int> members;       ///< world ranks; empty if no entry can serve it
    bool has_unknown_host = false;  ///< the network that decisions are for does not have it
    std::array<std::vector<Route>, num_served_kinds> routes;
    std::array<SelfCheck, num_served_kinds> checks;  ///< of the routes at the same place
    // Bit k, for kind k:
    std::uint32_t decided = 0;    ///< decide_routes() was called
    std::uint32_t planned = 0;    ///< a plan has entries for it here
    std::uint32_t inherited = 0;  ///< what the checks of earlier communicators have found
    std::shared_ptr<CollectiveQueue>
        queue;  ///< of its non-blocking collectives that the plan may serve; null: there are none
    std::shared_ptr<Choices> choices;  ///< of its non-blocking collectives; made at the first
};

constexpr std::uint32_t bit_of(CallKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr bool has(std::uint32_t kinds, CallKind kind) { return (kinds & bit_of(kind)) != 0; }

/// Once, before find_communicator.
void prepare_communicators();
/// Null if MPI refuses the handle.
Communicator* find_communicator(MPI_Comm comm);
/// Adds the routes of decisions, once, at the first call of the kind on the communicator: all ranks come here
/// with the same call.
void add_decided(Communicator&, CallKind);
inline void decide_routes(Communicator& communicator, CallKind kind) {
    if (!has(communicator.decided, kind)) add_decided(communicator, kind);
}
/// A communicator begins with what comparisons on earlier ones have found: many programs make few calls on each of
/// many. Its first member tells all ranks: threads may have made communicators in different orders, and the first
/// member alone knows of earlier jobs. For the routes of one kind: ranks may have decided on others at different times.
void inherit(Communicator&, CallKind);
/// Makes a new `private_comm` and numbers calls from 0 again. Collective. False if there is none.
bool restart_numbers(Communicator& communicator);
/// Gives the call a number that all ranks know it by, and with it tags that no message of an earlier call has: of one
/// that failed, some may still be under way. Counts every call, also one that is wrong on this rank alone, and does not
/// look at the arguments, because now and then it makes a communicator, which needs all ranks. False if there is none.
inline bool number_call(Communicator& communicator) {
    const bool is_numbered =
        communicator.private_comm != MPI_COMM_NULL && ++communicator.call < runtime::num_call_tags();
    return is_numbered || restart_numbers(communicator);
}
/// Makes that of the world, if the plan serves it. Collective. So a call there that one rank alone makes, for the MPI
/// to refuse it, waits for nobody.
void prepare_world();
/// Frees what was made for communicators that are gone. Not inside the MPI.
void release_forgotten();
/// Before MPI_Finalize, on all ranks.
void release_communicators();

}  // namespace hocket::interpose
