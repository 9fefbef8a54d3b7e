// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/analysis/wait_states.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/replay/function_kind.hpp"
#include "hocket/simulation/matching.hpp"
#include "hocket/trace/collectives.hpp"

namespace hocket::analysis {

namespace {

struct Place {
    std::int32_t rank = -1, call = -1;
};

class Search {
public:
    Search(const Trace& trace, const replay::Replayed& replayed, const Instants& instants)
        : trace_(trace), replayed_(replayed), instants_(instants) {
        for (const auto& calls : instants.calls) longest_.emplace_back(calls.size());
    }

    std::vector<Wait> find() {
        of_messages();
        of_collectives();
        std::vector<Wait> found;
        for (std::size_t rank = 0; rank < longest_.size(); ++rank)
            for (const Wait& wait : longest_[rank])
                if (wait.wait_ns > 0) found.push_back(wait);
        return found;
    }

private:
    [[nodiscard]] const Instants::Span& span(Place at) const {
        return instants_.calls[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.call)];
    }
    [[nodiscard]] const trace::Call& call(Place at) const {
        return trace_.rank(at.rank).calls[static_cast<std::size_t>(at.call)];
    }

    /// `who` waits until `cause` is entered, but not beyond its own end.
    void add(WaitState state, Place who, Place cause) {
        const Instants::Span& own = span(who);
        const std::int64_t wait_ns = std::min(span(cause).enter_ns, own.exit_ns) - own.enter_ns;
        Wait& known = longest_[static_cast<std::size_t>(who.rank)][static_cast<std::size_t>(who.call)];
        if (wait_ns > known.wait_ns) known = {who.rank, who.call, state, wait_ns, cause.rank, cause.call};
    }

    void of_messages() {
        const simulation::Matched matched = simulation::match(replayed_.program);
        std::vector<Place> begun(matched.message_of.size()), completed(matched.message_of.size());
        for (std::size_t r = 0; r < replayed_.call_ops.size(); ++r) {
            const replay::CallOps& ops = replayed_.call_ops[r];
            const auto rank = static_cast<std::int32_t>(r);
            const auto number = [&](std::int32_t op) { return static_cast<std::size_t>(matched.first_op[r] + op); };
            for (std::size_t c = 0; c < ops.begun.size(); ++c)
                for (std::int32_t op = ops.begun[c].first; op < ops.begun[c].end; ++op)
                    begun[number(op)] = {rank, static_cast<std::int32_t>(c)};
            for (const auto& [op, c] : ops.completed) completed[number(op)] = {rank, c};
            // Messages of collectives are not the program's own.
            for (const RankProgram::Call& part : replayed_.program.ranks[r].calls)
                for (std::int32_t op = part.first_op; op < part.first_op + part.num_ops; ++op) begun[number(op)] = {};
        }
        std::vector<bool> is_one_sided;
        for (const std::string& function : trace_.functions())
            is_one_sided.push_back(replay::kind_of(function) == replay::FunctionKind::one_sided);
        const auto counts = [&](Place at) {
            return at.rank >= 0 && !is_one_sided[static_cast<std::size_t>(call(at).function)];
        };
        for (const simulation::Message& message : matched.messages) {
            const Place send = begun[static_cast<std::size_t>(message.send)];
            const Place receive = begun[static_cast<std::size_t>(message.recv)];
            if (!counts(send) || !counts(receive)) continue;
            const Place received = completed[static_cast<std::size_t>(message.recv)];
            if (received.rank >= 0) add(WaitState::late_sender, received, send);
            // Only a send that has not ended before the receive was posted was blocked by that.
            const Place sent = completed[static_cast<std::size_t>(message.send)];
            if (sent.rank >= 0 && span(sent).exit_ns >= span(receive).enter_ns)
                add(WaitState::late_receiver, sent, receive);
        }
    }

    static std::optional<WaitState> state_of(std::string_view collective) {
        if (collective == "barrier") return WaitState::wait_at_barrier;
        if (collective == "bcast" || collective == "scatter" || collective == "scatterv")
            return WaitState::late_broadcast;
        if (collective == "reduce" || collective == "gather" || collective == "gatherv") return WaitState::early_reduce;
        for (const std::string_view all : {"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw",
                                           "reduce_scatter", "reduce_scatter_block"})
            if (collective == all) return WaitState::wait_at_nxn;
        return {};
    }

    /// All ranks of a communicator call its blocking collectives in the same order: the n-th of each are one.
    void of_collectives() {
        std::vector<std::optional<WaitState>> states;
        for (const std::string& function : trace_.functions()) {
            const trace::CollectiveName name = trace::collective_of(function);
            states.push_back(name.form == trace::Form::blocking ? state_of(name.collective) : std::nullopt);
        }
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Place>> calls;  // (communicator, number)
        for (std::int32_t rank = 0; rank < trace_.num_ranks(); ++rank) {
            std::map<std::int32_t, std::int32_t> number;
            const auto& of_rank = trace_.rank(rank).calls;
            for (std::size_t c = 0; c < of_rank.size(); ++c) {
                const trace::Call& one = of_rank[c];
                if (one.thread != 0 || one.error > 0 || one.communicator < 0) continue;
                if (!states[static_cast<std::size_t>(one.function)]) continue;
                calls[{one.communicator, number[one.communicator]++}].push_back({rank, static_cast<std::int32_t>(c)});
            }
        }
        for (const auto& [key, places] : calls) {
            const trace::Communicator& in = trace_.communicators()[static_cast<std::size_t>(key.first)];
            if (in.inter || places.size() != in.members.size() || places.size() < 2) continue;
            of_collective(*states[static_cast<std::size_t>(call(places.front()).function)], in, places);
        }
    }

    void of_collective(WaitState state, const trace::Communicator& in, const std::vector<Place>& places) {
        const auto by_enter = [&](Place a, Place b) { return span(a).enter_ns < span(b).enter_ns; };
        if (state == WaitState::wait_at_barrier || state == WaitState::wait_at_nxn) {
            const Place last = *std::ranges::max_element(places, by_enter);
            for (const Place at : places) add(state, at, last);
            return;
        }
        const std::int32_t root = call(places.front()).root;
        if (root < 0 || static_cast<std::size_t>(root) >= in.members.size()) return;
        const std::int32_t root_rank = in.members[static_cast<std::size_t>(root)];
        const auto at_root = std::ranges::find(places, root_rank, &Place::rank);
        if (at_root == places.end()) return;
        if (state == WaitState::late_broadcast) {
            for (const Place at : places)
                if (at.rank != root_rank) add(state, at, *at_root);
            return;
        }
        std::vector<Place> others;
        std::ranges::copy_if(places, std::back_inserter(others), [&](Place at) { return at.rank != root_rank; });
        add(state, *at_root, *std::ranges::min_element(others, by_enter));
    }

    const Trace& trace_;
    const replay::Replayed& replayed_;
    const Instants& instants_;
    std::vector<std::vector<Wait>> longest_;  // [rank][call]
};

}  // namespace

std::string_view name_of(WaitState state) {
    switch (state) {
        case WaitState::late_sender:
            return "late sender";
        case WaitState::late_receiver:
            return "late receiver";
        case WaitState::wait_at_barrier:
            return "wait at barrier";
        case WaitState::wait_at_nxn:
            return "wait at n x n";
        case WaitState::late_broadcast:
            return "late broadcast";
        case WaitState::early_reduce:
            return "early reduce";
    }
    HOCKET_ASSERT(false, "unknown wait state");
}

std::vector<Wait> wait_states(const Trace& trace, const replay::Replayed& replayed, const Instants& instants) {
    if (replayed.call_ops.size() != instants.calls.size())
        throw InvalidInput("the replay does not tell which operations belong to which call", "replay with call_ops");
    return Search(trace, replayed, instants).find();
}

}  // namespace hocket::analysis
