// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/replay.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "hocket/replay/collective_programs.hpp"
#include "hocket/replay/function_kind.hpp"
#include "hocket/replay/program_builder.hpp"
#include "hocket/trace/collectives.hpp"
#include "hocket/trace/format.h"

namespace hocket::replay {

namespace {

using trace::Call;
using Pending = ProgramBuilder::Pending;

constexpr double seconds_per_ns = 1e-9;

/// What all ranks share.
struct Shared {
    const Trace& trace;
    const ReplayOptions& options;
    std::vector<FunctionKind> kinds;                            // by function
    std::vector<trace::CollectiveName> collectives;             // by function
    std::vector<std::map<std::int32_t, std::int32_t>> rank_in;  // by communicator: world rank -> rank in `members`
    CollectivePrograms programs;
    ProgramBuilder builder;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>
        tags;  // (communicator, MPI tag) -> tag of the Program
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>
        collective_calls;                          // (communicator, how many before it on this) -> number of its own
    std::map<std::string, std::int64_t> left_out;  // what -> calls
    std::int64_t start_ns;                         // the first return from MPI_Init

    std::int32_t collective_call(std::int32_t communicator, std::int32_t before) {
        const auto number = static_cast<std::int32_t>(collective_calls.size());
        return collective_calls.try_emplace({communicator, before}, number).first->second;
    }
    std::int32_t tag(std::int32_t communicator, std::int32_t mpi_tag) {
        return tags.try_emplace({communicator, mpi_tag}, static_cast<std::int32_t>(tags.size())).first->second;
    }
};

// MPI tags are not negative, so this one is free for the messages of collectives. All ranks call the collectives of a
// communicator in the same order, and messages match in the order of the ops, so one tag is enough.
constexpr std::int32_t collective_tag = -2;

/// Plays one rank's calls.
class RankReplay {
public:
    RankReplay(Shared& shared, Rank rank) : shared_(shared), rank_(rank), file_(shared.trace.rank(rank.value)) {
        for (const trace::Completion& completion : file_.completions) {
            completions_.try_emplace(completion.request, completion);
        }
    }

    void play() {
        const Call* previous = nullptr;
        for (const Call& call : file_.calls) {
            if (call.thread > 0) {
                shared_.left_out["calls of other threads than the main one"] += call.calls;
                continue;
            }
            if (previous != nullptr) {
                compute_between(*previous, call);
            } else {
                shared_.builder.compute(rank_, static_cast<double>(call.exit_ns - shared_.start_ns) * seconds_per_ns);
            }
            const std::int64_t between_polls_ns = shared_.options.cpu_time ? call.outside_cpu_ns : call.outside_ns;
            shared_.builder.compute(rank_, static_cast<double>(between_polls_ns) * seconds_per_ns);
            if (kind(call) == FunctionKind::finalize) {
                return;
            }
            if (call.error <= 0) {
                play(call);
            }
            previous = &call;
        }
    }

private:
    [[nodiscard]] FunctionKind kind(const Call& call) const {
        return shared_.kinds[static_cast<std::size_t>(call.function)];
    }

    void compute_between(const Call& before, const Call& after) {
        const bool cpu_known = before.exit_cpu_ns >= 0 && after.enter_cpu_ns >= 0;
        const std::int64_t ns = shared_.options.cpu_time && cpu_known ? after.enter_cpu_ns - before.exit_cpu_ns
                                                                      : after.enter_ns - before.exit_ns;
        shared_.builder.compute(rank_, static_cast<double>(ns) * seconds_per_ns);
    }

    void play(const Call& call) {
        switch (kind(call)) {
            case FunctionKind::local:
            case FunctionKind::init:
            case FunctionKind::finalize:
                return;
            case FunctionKind::file:
                shared_.builder.compute(rank_, static_cast<double>(call.exit_ns - call.enter_ns) * seconds_per_ns);
                return;
            case FunctionKind::unsupported:
                return leave_out(call);
            case FunctionKind::send: {
                const Pending sent = send(call, call.peer, call.tag, call.bytes);
                if (call.bytes >= shared_.options.eager_bytes) {
                    shared_.builder.await(rank_, sent);
                }
                return;
            }
            case FunctionKind::recv:
                return shared_.builder.await(rank_, receive(call, call.peer, call.tag, call.bytes));
            case FunctionKind::sendrecv: {
                Pending both = send(call, call.peer, call.tag, call.bytes);
                const Pending received = receive(call, call.receive_peer, call.receive_tag, call.receive_bytes);
                both.insert(both.end(), received.begin(), received.end());
                return shared_.builder.await(rank_, both);
            }
            case FunctionKind::isend:
            case FunctionKind::irecv:
                return begin(call);
            case FunctionKind::start:
                return for_each_request(call, [&](std::uint64_t request) { restart(request); });
            case FunctionKind::complete:
                return for_each_request(call, [&](std::uint64_t request) { complete(request); });
            case FunctionKind::collective:
                return collective(call);
        }
    }

    /// A non-blocking call begins now, a persistent one when it is started.
    void begin(const Call& call) {
        if ((call.flags & HOCKET_TRACE_PERSISTENT) != 0) {
            persistent_[call.request] = &call;
        } else {
            pending_[call.request] = post(call);
        }
    }

    Pending post(const Call& call) {
        if (kind(call) == FunctionKind::collective) {
            return collective_ops(call);
        }
        if (kind(call) == FunctionKind::isend) {
            return send(call, call.peer, call.tag, call.bytes);
        }
        // What is asked for may be a wildcard; the completion tells what came.
        const auto found = completions_.find(call.request);
        if (found == completions_.end() || found->second.source < 0) {
            return receive(call, call.peer, call.tag, call.bytes);
        }
        return receive(call, found->second.source, found->second.tag, found->second.bytes);
    }

    void restart(std::uint64_t request) {
        if (const auto found = persistent_.find(request); found != persistent_.end()) {
            pending_[request] = post(*found->second);
        }
    }

    void complete(std::uint64_t request) {
        const auto found = pending_.find(request);
        if (found == pending_.end()) {
            return;
        }
        shared_.builder.await(rank_, found->second);
        pending_.erase(found);
    }

    template <class Action>
    void for_each_request(const Call& call, Action action) {
        if (call.completions < 0) {
            if (call.request != 0 && is_done(call)) {
                action(call.request);
            }
            return;
        }
        for (std::int64_t i = 0; i < call.num_completions; ++i) {
            action(file_.completions[static_cast<std::size_t>(call.completions + i)].request);
        }
    }

    [[nodiscard]] bool is_done(const Call& call) const {
        const bool tests = shared_.trace.functions()[static_cast<std::size_t>(call.function)].starts_with("MPI_Test");
        return !tests || (call.flags & HOCKET_TRACE_COMPLETED) != 0;
    }

    /// World rank of a peer, invalid for MPI_PROC_NULL, an unknown sender or a process outside this world.
    [[nodiscard]] Rank world(const Call& call, std::int32_t peer) const {
        if (call.communicator < 0 || peer < 0) {
            return Rank{};
        }
        const trace::Communicator& communicator =
            shared_.trace.communicators()[static_cast<std::size_t>(call.communicator)];
        const bool own_first = shared_.rank_in[static_cast<std::size_t>(call.communicator)].contains(rank_.value);
        const auto& group = communicator.inter && own_first ? communicator.remote : communicator.members;
        return static_cast<std::size_t>(peer) < group.size() ? Rank{group[static_cast<std::size_t>(peer)]} : Rank{};
    }

    Pending send(const Call& call, std::int32_t peer, std::int32_t tag, std::int64_t bytes) {
        const Rank to = world(call, peer);
        if (!to.valid()) {
            return {};
        }
        return shared_.builder.send(rank_, to, shared_.tag(call.communicator, tag), std::max<std::int64_t>(bytes, 0));
    }

    Pending receive(const Call& call, std::int32_t peer, std::int32_t tag, std::int64_t bytes) {
        const Rank from = world(call, peer);
        if (!from.valid()) {
            return {};
        }
        return shared_.builder.recv(rank_, from, shared_.tag(call.communicator, tag), std::max<std::int64_t>(bytes, 0));
    }

    void collective(const Call& call) {
        const trace::Form form = shared_.collectives[static_cast<std::size_t>(call.function)].form;
        if (form == trace::Form::blocking) {
            shared_.builder.await(rank_, collective_ops(call));
        } else {
            begin(call);
        }
    }

    Pending collective_ops(const Call& call) {
        if (call.communicator < 0) {
            return {};
        }
        // All members begin the collectives of a communicator in the same order.
        const std::int32_t number = shared_.collective_call(call.communicator, collectives_begun_[call.communicator]++);
        const trace::Communicator& communicator =
            shared_.trace.communicators()[static_cast<std::size_t>(call.communicator)];
        const auto& ranks = shared_.rank_in[static_cast<std::size_t>(call.communicator)];
        const auto own = ranks.find(rank_.value);
        const std::string_view name = shared_.collectives[static_cast<std::size_t>(call.function)].collective;
        if (communicator.inter || own == ranks.end() || ranks.size() != communicator.members.size()) {
            leave_out(call);
            return {};
        }
        if (ranks.size() == 1) {
            return {};
        }
        const CollectiveCall asked{
            name,      communicator.members, own->second,       std::max<std::int64_t>(call.bytes, 0),
            call.root, vector_of(call, 0),   vector_of(call, 1)};
        const RankProgram* part = shared_.programs.part(asked);
        if (part == nullptr) {
            leave_out(call);
            return {};
        }
        const std::vector<Rank> members(communicator.members.begin(), communicator.members.end());
        return shared_.builder.graft(rank_, *part, members, shared_.tag(call.communicator, collective_tag), number);
    }

    /// The sizes of a v-variant: those sent (0) or received (1), by rank; empty if the call has none.
    [[nodiscard]] std::span<const std::int64_t> vector_of(const Call& call, int which) const {
        if (call.blocks < 0) {
            return {};
        }
        const std::int64_t* at = file_.blocks.data() + call.blocks;
        if (which == 1) {
            at += 1 + *at;
        }
        return {at + 1, static_cast<std::size_t>(*at)};
    }

    void leave_out(const Call& call) {
        shared_.left_out["calls of " + shared_.trace.functions()[static_cast<std::size_t>(call.function)]]++;
    }

    Shared& shared_;
    Rank rank_;
    const trace::RankFile& file_;
    std::map<std::uint64_t, trace::Completion> completions_;  // of requests that complete once
    std::map<std::uint64_t, Pending> pending_;
    std::map<std::uint64_t, const Call*> persistent_;
    std::map<std::int32_t, std::int32_t> collectives_begun_;  // by communicator
};

/// Turns what has no counterpart into ops that do nothing: after a recording that was cut off.
void leave_out_unmatched(Program& program) {
    using Pair = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // source, target, tag
    const auto key_of = [](std::int32_t rank, const ProgramOp& op) {
        return op.kind == ProgramOpKind::send ? Pair{rank, op.peer.value, op.tag} : Pair{op.peer.value, rank, op.tag};
    };
    const auto is_message = [](const ProgramOp& op) {
        return op.kind == ProgramOpKind::send || op.kind == ProgramOpKind::recv;
    };
    std::map<Pair, std::int64_t> counts[2], seen[2];
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
        for (const ProgramOp& op : program.ranks[rank].ops) {
            if (is_message(op)) {
                ++counts[op.kind == ProgramOpKind::send][key_of(static_cast<std::int32_t>(rank), op)];
            }
        }
    }
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
        for (ProgramOp& op : program.ranks[rank].ops) {
            if (!is_message(op)) {
                continue;
            }
            const bool sends = op.kind == ProgramOpKind::send;
            const Pair key = key_of(static_cast<std::int32_t>(rank), op);
            if (++seen[sends][key] <= counts[!sends][key]) {
                continue;
            }
            op.kind = ProgramOpKind::compute;
            op.seconds = 0;
        }
    }
}

/// [first return from MPI_Init, last call of MPI_Finalize]; the first and the last call where these were not recorded.
std::pair<std::int64_t, std::int64_t> span_of(const Trace& trace, const std::vector<FunctionKind>& kinds) {
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max(), end_ns = std::numeric_limits<std::int64_t>::min();
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) {
        const auto& calls = trace.rank(rank).calls;
        if (calls.empty()) {
            continue;
        }
        const Call& last = calls.back();
        const bool finalized = kinds[static_cast<std::size_t>(last.function)] == FunctionKind::finalize;
        start_ns = std::min(start_ns, calls.front().exit_ns);
        end_ns = std::max(end_ns, finalized ? last.enter_ns : last.exit_ns);
    }
    return start_ns > end_ns ? std::pair<std::int64_t, std::int64_t>{0, 0} : std::pair{start_ns, end_ns};
}

}  // namespace

Replayed replay(const Trace& trace, const Plan& plan, const std::vector<NativeModel>& native,
                const ReplayOptions& options) {
    std::vector<FunctionKind> kinds;
    std::vector<trace::CollectiveName> collectives;
    for (const std::string& function : trace.functions()) {
        kinds.push_back(kind_of(function));
        collectives.push_back(trace::collective_of(function));
    }
    std::vector<std::map<std::int32_t, std::int32_t>> rank_in;
    for (const trace::Communicator& communicator : trace.communicators()) {
        std::map<std::int32_t, std::int32_t>& ranks = rank_in.emplace_back();
        for (const std::int32_t world : communicator.members) {
            if (world >= 0) {
                ranks.try_emplace(world, static_cast<std::int32_t>(ranks.size()));
            }
        }
    }
    const auto [start_ns, end_ns] = span_of(trace, kinds);
    Shared shared{trace,
                  options,
                  std::move(kinds),
                  std::move(collectives),
                  std::move(rank_in),
                  CollectivePrograms(plan, native),
                  ProgramBuilder(trace.num_ranks()),
                  {},
                  {},
                  {},
                  start_ns};
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) {
        RankReplay(shared, Rank{rank}).play();
    }
    Replayed result{shared.builder.take(), static_cast<double>(end_ns - start_ns) * seconds_per_ns, {}};
    leave_out_unmatched(result.program);
    for (const auto& [what, count] : shared.left_out) {
        result.notes.push_back(std::to_string(count) + " " + what);
    }
    return result;
}

}  // namespace hocket::replay
