// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/decision.hpp"

#include "interpose/arguments.hpp"
#include "interpose/blocking/comparisons.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/inside.hpp"
#include "interpose/routes.hpp"

namespace hocket::interpose {

using selection::CallKey;

Decision decide(const Call& call) {
    Communicator* const found = find_communicator(call.comm);
    if (found == nullptr || found->has_none) return {Outcome::communicator};
    Communicator& communicator = *found;
    auto& routes = communicator.routes[static_cast<std::size_t>(call.collective)];
    if (routes.empty()) return {Outcome::communicator};
    const Inside inside;
    if (!number_call(communicator)) return {Outcome::communicator};

    const Verdict verdict = judge(call, communicator.rank, communicator.size);
    const std::int64_t bytes = signature_bytes(call, communicator);
    Route* const route = find_route(communicator, call, bytes);
    const bool serves = route != nullptr && verdict.action == Verdict::serve && keeps_order(*route, call);

    SelfCheck& check = communicator.checks[static_cast<std::size_t>(call.collective)];
    const std::int64_t place = route == nullptr ? -1 : route - routes.data();
    const bool has_root = call.root >= 0 && call.root < communicator.size;  // else the MPI refuses the call
    const bool is_due = check.count(place, has_root ? call.root : 0);
    auto way = SelfCheck::Way::as_planned;
    if (is_due) way = agree(check, communicator, routes, serves ? CallKey{place, bytes, call.root} : CallKey{});

    if (verdict.action == Verdict::native) {
        // The MPI refuses it before its first message, and then it is no call: where the other ranks are in it, it is
        // the next one of this rank that they wait for.
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
    if (way == SelfCheck::Way::time_native) {
        entry_counts[route->index].self_check.fetch_add(1, std::memory_order_relaxed);
        return {Outcome::comparison, &check};
    }
    return {route->entry->evidence ? Outcome::measured : Outcome::derived,
            way == SelfCheck::Way::time_schedule ? &check : nullptr,
            &communicator,
            route,
            bytes,
            verdict.code};
}

}  // namespace hocket::interpose
