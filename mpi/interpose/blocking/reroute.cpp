// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/blocking/reroute.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "interpose/arguments.hpp"
#include "interpose/blocking/served.hpp"
#include "interpose/communicators.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/inside.hpp"
#include "interpose/next.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/routes.hpp"
#include "interpose/settings.hpp"
#include "selection/self_check.hpp"

namespace hocket::interpose {

namespace {

using runtime::Operation;
using selection::CallKey;

// Prepared operations are kept for the roots and numbers of segments used last.
constexpr std::size_t max_prepared = 8;

/// Whether the schedule may combine with the call's operator. The arguments are good.
bool keeps_order(Route& route, const Call& call) {
    if (!combines(call.collective)) return true;
    if (runtime::describe(call.arguments.recv.type).extent_bytes <= 0) return false;
    if (runtime::is_commutative(call.arguments.op)) return true;
    if (!route.preserves_order || route.order_root.value != call.root) {
        route.order_root = Rank{call.root};
        route.preserves_order = preserves_order(route.entry->schedule, route.order_root);
    }
    if (!*route.preserves_order) entry_counts[route.index].kept_native.fetch_add(1, std::memory_order_relaxed);
    return *route.preserves_order;
}

/// A communicator begins with what comparisons on earlier ones have found: many programs make few calls on each of
/// many. The ranks agree on it, since threads may have made them in different orders.
void inherit(Communicator& communicator) {
    if (communicator.has_inherited || !settings.checks_itself) return;
    communicator.has_inherited = true;
    std::vector<std::int64_t> mine;
    for (const auto& routes : communicator.routes) {
        for (const Route& route : routes) mine.push_back(entry_counts[route.index].num_slower);
    }
    std::vector<std::int64_t> all(mine.size());
    const auto count = static_cast<int>(mine.size());
    if (next.Allreduce(mine.data(), all.data(), count, MPI_INT64_T, MPI_MIN, communicator.private_comm) != MPI_SUCCESS)
        return;
    std::size_t i = 0;
    for (std::size_t c = 0; c < num_collectives; ++c) {
        for (std::size_t place = 0; place < communicator.routes[c].size(); ++place)
            communicator.checks[c].inherit(static_cast<std::int64_t>(place), all[i++]);
    }
}

/// Gives the call a number that all ranks know it by, and with it tags that no message of an earlier call has: of one
/// that failed, some may still be under way. Counts every call, also one that is wrong on this rank alone, and does not
/// look at the arguments, because now and then it makes a communicator, which needs all ranks. False if there is none.
bool number_call(Communicator& communicator) {
    if (communicator.private_comm != MPI_COMM_NULL && ++communicator.call < runtime::num_call_tags()) return true;
    for (auto& routes : communicator.routes) {
        for (Route& route : routes) route.operations.clear();
    }
    communicator.call = 0;
    if (!renew_private(communicator)) return false;
    inherit(communicator);
    return true;
}

Operation& operation_for(Route& route, const Communicator& communicator, Rank root, std::int64_t bytes) {
    auto& operations = route.operations;
    const std::int32_t asked_segments = segments_of(route.entry->schedule, bytes);
    const std::int32_t segments = schedule_segments(route.entry->schedule, asked_segments);
    const auto same = [&](const auto& operation) {
        return operation->role().root == root && operation->role().segments == segments;
    };
    const auto found = std::find_if(operations.begin(), operations.end(), same);
    if (found != operations.end()) {
        std::rotate(found, found + 1, operations.end());
        return *operations.back();
    }
    if (operations.size() == max_prepared) operations.erase(operations.begin());
    const Rank self{communicator.rank};
    const runtime::Role role{route.entry->collective, communicator.size, root, self, segments};
    auto graph =
        std::make_shared<const runtime::RankGraph>(rank_schedule(route.entry->schedule, root, self, asked_segments));
    operations.push_back(std::make_unique<Operation>(role, std::move(graph), communicator.private_comm));
    return *operations.back();
}

int execute(Route& route, Communicator& communicator, const Call& call, std::int64_t bytes) noexcept {
    try {
        Operation& operation = operation_for(route, communicator, Rank{call.root}, bytes);
        return operation.execute(call.arguments, communicator.call);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    } catch (const std::exception&) {
        return MPI_ERR_INTERN;
    }
}

/// Before a call that all ranks make, whatever is wrong with it.
SelfCheck::Way agree(SelfCheck& check, const Communicator& communicator, const std::vector<Route>& routes,
                     const CallKey& call) {
    const SelfCheck::Statement mine = check.statement(call);
    SelfCheck::Statement all{};
    const std::int64_t begin_ns = now_ns();
    const auto count = static_cast<int>(mine.size());
    if (next.Allreduce(mine.data(), all.data(), count, MPI_INT64_T, MPI_MAX, communicator.private_comm) !=
        MPI_SUCCESS) {
        check.stop();
        return SelfCheck::Way::as_planned;
    }
    const std::int64_t target = check.target();
    const int num_compared = check.entry(target).num_compared;
    const SelfCheck::Way way = check.conclude(all, now_ns() - begin_ns);
    const SelfCheck::Entry& checked = check.entry(target);
    if (checked.num_compared > std::max(1, num_compared)) {  // the first on a communicator does not count
        EntryCount& found = entry_counts[routes[static_cast<std::size_t>(target)].index];
        found.num_slower = checked.num_slower();
        found.native_ns = checked.candidates[SelfCheck::native].agreed_ns;
        found.schedule_ns = checked.candidates[SelfCheck::schedule].agreed_ns;
    }
    return way;
}

void count_after_fall_back(const Route& route, const SelfCheck::Entry& checked, const Communicator& communicator) {
    EntryCount& count = entry_counts[route.index];
    count.after_fall_back.fetch_add(1, std::memory_order_relaxed);
    std::int64_t none = 0;
    const auto call = static_cast<std::int64_t>(checked.calls);
    if (count.fell_back_at_call.compare_exchange_strong(none, call) && communicator.rank == 0)
        log_fall_back(route.index, call, SelfCheck::policy.lost_comparisons);
}

/// Nothing if the call is to be native. Then `timed` is set if the self-check wants to know how long it takes.
std::optional<int> serve(Communicator& communicator, const Call& call, SelfCheck*& timed, Outcome& outcome) {
    const Inside inside;
    outcome = Outcome::communicator;
    if (!number_call(communicator)) return {};
    outcome = Outcome::size;
    auto& routes = communicator.routes[static_cast<std::size_t>(call.collective)];
    SelfCheck& check = communicator.checks[static_cast<std::size_t>(call.collective)];
    const std::int64_t bytes = bytes_of(call, communicator);
    Route* const route = find_route(communicator, call, bytes);
    const std::int64_t place = route == nullptr ? -1 : route - routes.data();
    const bool has_root = call.root >= 0 && call.root < communicator.size;  // else the MPI refuses the call
    const bool is_due = check.count(place, has_root ? call.root : 0);
    const Verdict verdict = judge(call, communicator.rank, communicator.size);
    const bool serves = route != nullptr && verdict.action == Verdict::serve && keeps_order(*route, call);
    auto way = SelfCheck::Way::as_planned;
    if (is_due) way = agree(check, communicator, routes, serves ? CallKey{place, bytes, call.root} : CallKey{});
    if (verdict.action == Verdict::native) {
        // The MPI refuses it before its first message, and then it is no call: where the other ranks are in it, it is
        // the next one of this rank that they wait for.
        outcome = Outcome::arguments;
        --communicator.call;
        check.take_back();
        return {};
    }
    if (route == nullptr) return {};
    if (check.entry(place).given_up()) {
        outcome = Outcome::slower;
        count_after_fall_back(*route, check.entry(place), communicator);
        return {};
    }
    outcome = verdict.action == Verdict::serve ? Outcome::order : Outcome::arguments;
    if (verdict.action != Verdict::refuse && !serves) return {};
    if (way == SelfCheck::Way::time_native) {
        outcome = Outcome::comparison;
        entry_counts[route->index].self_check.fetch_add(1, std::memory_order_relaxed);
        timed = &check;
        return {};
    }
    outcome = route->entry->evidence ? Outcome::measured : Outcome::derived;
    const std::int64_t begin_ns = way == SelfCheck::Way::time_schedule ? now_ns() : 0;
    const int code = verdict.action == Verdict::refuse ? verdict.code : execute(*route, communicator, call, bytes);
    if (way == SelfCheck::Way::time_schedule && code == MPI_SUCCESS) check.took(now_ns() - begin_ns);
    entry_counts[route->index].rerouted.fetch_add(1, std::memory_order_relaxed);
    // The private communicator returns errors; the error handler of the program's communicator decides what follows.
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, code);
    return code;
}

int carry_out(const Call& call, const Native& native, Outcome& outcome) {
    if (!plan_in_force.has_entries_for(call.collective)) return native();
    Communicator* const communicator = find_communicator(call.comm);
    outcome = Outcome::communicator;
    if (communicator == nullptr || communicator->has_none) return native();
    if (communicator->routes[static_cast<std::size_t>(call.collective)].empty()) return native();
    SelfCheck* timed = nullptr;
    if (const auto code = serve(*communicator, call, timed, outcome)) return *code;
    if (timed == nullptr) return native();
    const std::int64_t begin_ns = now_ns();
    const int code = native();
    if (code == MPI_SUCCESS) timed->took(now_ns() - begin_ns);
    return code;
}

}  // namespace

int reroute(const Call& call, const Native& native) {
    if (depth > 0 || call.comm == MPI_COMM_NULL) return native();
    const auto run = [&](Outcome& outcome) { return carry_out(call, native, outcome); };
    if (served.counts_calls()) return served.counted(call.collective, run);
    Outcome outcome{};
    return run(outcome);
}

}  // namespace hocket::interpose
