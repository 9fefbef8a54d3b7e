// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/reroute.hpp"

#include "common/clock.hpp"
#include "interpose/arguments.hpp"
#include "interpose/blocking/comparisons.hpp"
#include "interpose/blocking/serve.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/communicators.hpp"
#include "interpose/decisions.hpp"
#include "interpose/inside.hpp"
#include "interpose/routes.hpp"

namespace hocket::interpose {

namespace {

using selection::CallKey;

/// How to carry out a call.
struct Decision {
    Outcome outcome = Outcome::communicator;
    SelfCheck* timed = nullptr;  ///< wants to know how long the call takes, unless it is null
    // Of a call by a schedule:
    Communicator* communicator = nullptr;
    Route* route = nullptr;
    std::int64_t bytes = 0;
    int refused = MPI_SUCCESS;  ///< the error that hocket reports instead
};

Outcome why_without_routes(const Communicator& communicator) {
    if (!decisions.is_on()) return Outcome::communicator;
    return communicator.has_unknown_host ? Outcome::placement : Outcome::predicted;
}

/// Its communicator has routes for calls of the kind.
Outcome why_without_route(const Communicator& communicator, CallKind kind, const Signature& signature) {
    if (signature.is_too_uneven) return Outcome::uneven;
    return has(communicator.planned, kind) ? Outcome::size : Outcome::predicted;
}

/// Collective over the call's communicator, where the plan serves it. All ranks decide alike: by collective, members,
/// bytes of the signature, root, operator, and what the self-check has found.
Decision decide(const Call& call) {
    Communicator* const found = find_communicator(call.comm);
    if (found == nullptr || found->has_none) return {Outcome::communicator};
    Communicator& communicator = *found;
    const CallKind kind = kind_of(call);
    decide_routes(communicator, kind);
    auto& routes = communicator.routes[place_of(kind)];
    if (routes.empty()) return {why_without_routes(communicator)};
    const Signature signature = signature_of(call, communicator);
    const std::int64_t bytes = signature.bytes;
    Route* const route = find_route(routes, call, bytes);
    // Most calls of most programs are such ones: nothing is counted, and nothing waits for other ranks.
    if (route == nullptr && (is_uneven(kind) || !has(communicator.planned, kind)))
        return {why_without_route(communicator, kind, signature)};
    const Inside inside;
    if (!number_call(communicator)) return {Outcome::communicator};
    const Verdict verdict = judge(call, communicator.rank, communicator.size);
    // On other communicators the first call needs all ranks anyway.
    const bool may_be_alone = verdict.action == Verdict::native && call.comm == MPI_COMM_WORLD;
    if (!has(communicator.inherited, kind) && !may_be_alone) inherit(communicator, kind);

    const std::int64_t place = route == nullptr ? -1 : route - routes.data();
    SelfCheck& check = communicator.checks[place_of(kind)];
    const bool has_root = call.root >= 0 && call.root < communicator.size;  // else the MPI refuses the call
    // Calls are alike whose blocks differ as much.
    const std::int32_t root = is_uneven(kind) ? signature.unevenness : call.root;
    const bool is_due = check.count(place, has_root ? root : 0);

    const bool serves = route != nullptr && verdict.action == Verdict::serve && keeps_order(*route, call);
    auto way = SelfCheck::Way::as_planned;
    if (is_due) way = agree(check, communicator, routes, serves ? CallKey{place, bytes, root} : CallKey{});

    if (verdict.action == Verdict::native) {
        // The MPI refuses it before its first message, and then it is not a call: where the other ranks are in it, it
        // is the next one of this rank that they wait for.
        --communicator.call;
        check.take_back();
        return {Outcome::arguments};
    }
    if (route == nullptr) return {Outcome::size};
    if (check.entry(place).given_up()) {
        count_after_fall_back(*route, check.entry(place), communicator);
        return {Outcome::slower};
    }
    if (verdict.action == Verdict::serve && !serves) return {Outcome::order};
    if (check.entry(place).native_first && way == SelfCheck::Way::as_planned) return {Outcome::predicted};
    if (way == SelfCheck::Way::time_native) {
        route->count->self_check.fetch_add(1, std::memory_order_relaxed);
        return {Outcome::comparison, &check};
    }
    return {route->entry->evidence && !is_uneven(kind) ? Outcome::measured : Outcome::derived,
            way == SelfCheck::Way::time_schedule ? &check : nullptr,
            &communicator,
            route,
            bytes,
            verdict.code};
}

/// In this file, so that the compiler keeps the decision in registers: a short call shows the difference.
int carry_out(const Call& call, const Native& native, Outcome& outcome) {
    if (!plan_in_force.has_entries_for(call.collective) && !decisions.is_on()) return native();
    const Decision decision = decide(call);
    outcome = decision.outcome;
    const std::int64_t begin_ns = decision.timed != nullptr ? now_ns() : 0;
    const int code = decision.route == nullptr
                         ? native()
                         : serve(*decision.route, *decision.communicator, call, decision.bytes, decision.refused);
    if (decision.timed != nullptr && code == MPI_SUCCESS) decision.timed->took(now_ns() - begin_ns);
    return code;
}

}  // namespace

int reroute(const Call& call, const Native& native) {
    if (depth > 0 || call.comm == MPI_COMM_NULL) return native();
    const auto run = [&](Outcome& outcome) { return carry_out(call, native, outcome); };
    if (served.counts_calls()) return served.counted(kind_of(call), run);
    Outcome outcome{};
    return run(outcome);
}

int count_native(CallKind kind, const Native& native) {
    if (depth > 0) return native();
    return served.counted(kind, [&](Outcome& outcome) {
        outcome = Outcome::no_schedule;
        return native();
    });
}

}  // namespace hocket::interpose
