// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Symbolic execution. A schedule without races whose messages match gives the same result in every order that its
// dependencies allow, so that one order shows all.

#include <deque>
#include <map>
#include <optional>

#include "hocket/schedule/checks.hpp"
#include "hocket/schedule/contributions.hpp"

namespace hocket::schedule {

namespace {

using Value = Contributions::Value;
constexpr Value nothing = -1;

/// What each rank holds: for reductions a value for each chunk, else only whether it is there, one bit.
class Places {
public:
    Places(bool reduction, std::int32_t num_ranks, std::int64_t chunks) {
        const auto p = static_cast<std::size_t>(num_ranks);
        const auto c = static_cast<std::size_t>(chunks);
        if (reduction) values_.assign(p, std::vector<Value>(c, nothing));
        if (!reduction) present_.assign(p, std::vector<bool>(c, false));
    }
    [[nodiscard]] Value get(Rank rank, std::int32_t chunk) const {
        const auto c = static_cast<std::size_t>(chunk);
        if (!values_.empty()) return values_[rank.at()][c];
        return present_[rank.at()][c] ? 0 : nothing;
    }
    void set(Rank rank, std::int32_t chunk, Value value) {
        const auto c = static_cast<std::size_t>(chunk);
        if (values_.empty())
            present_[rank.at()][c] = value != nothing;
        else
            values_[rank.at()][c] = value;
    }

private:
    std::vector<std::vector<Value>> values_;
    std::vector<std::vector<bool>> present_;
};

template <class Function>
void for_each_chunk(std::span<const ChunkRange> ranges, Function function) {
    for (const ChunkRange& range : ranges)
        for (std::int32_t i = 0; i < range.count; ++i) function(range.first + i);
}

/// The chunks that a rank holds before, and must hold after.
struct Condition {
    std::vector<ChunkRange> before, after;
};

Condition condition_of(const Schedule& schedule, std::int32_t rank) {
    const std::int32_t p = schedule.num_ranks;
    const std::int32_t c = schedule.segments;
    const auto chunks = static_cast<std::int32_t>(num_chunks(schedule.collective, p, c));
    const bool is_root = schedule.root.value == rank;
    const std::vector<ChunkRange> all = {{0, chunks}};
    const std::vector<ChunkRange> none;
    const std::vector<ChunkRange> own = {
        {chunks / p == c ? rank * c : 0, c}};  // elsewhere it is not used, and could overflow
    switch (schedule.collective) {
        case Collective::bcast:
            return {is_root ? all : none, all};
        case Collective::reduce:
            return {all, is_root ? all : none};
        case Collective::allreduce:
            return {all, all};
        case Collective::allgather:
            return {own, all};
        case Collective::reduce_scatter_block:
            return {all, own};
        case Collective::scatter:
            return {is_root ? all : none, own};
        case Collective::gather:
            return {own, is_root ? all : none};
        case Collective::alltoall: {
            std::vector<ChunkRange> to_me;
            for (std::int32_t source = 0; source < p; ++source) to_me.push_back({(source * p + rank) * c, c});
            return {{{rank * p * c, p * c}}, to_me};
        }
        case Collective::barrier:
            break;
    }
    return {};
}

}  // namespace

void run(const Schedule& schedule, const Matching& matching, const Steps& steps, Violations& violations) {
    enum class State : std::uint8_t { waiting, started, taken, completed };
    struct Progress {
        State state = State::waiting;
        std::int32_t to_start = 0;    ///< dependencies that keep it from starting
        std::int32_t to_combine = 0;  ///< dependencies that have not completed
        std::vector<std::int32_t> dependents;
    };
    std::vector<std::vector<Progress>> ranks;
    struct At {
        std::int32_t rank, op;
    };
    std::deque<At> startable;
    const auto progress = [&](At at) -> Progress& {
        return ranks[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.op)];
    };
    const auto op_at = [&](At at) -> const Op& {
        return schedule.ranks[static_cast<std::size_t>(at.rank)].ops[static_cast<std::size_t>(at.op)];
    };
    for (std::int32_t r = 0; r < schedule.num_ranks; ++r) {
        const RankSchedule& rank = schedule.ranks[static_cast<std::size_t>(r)];
        std::vector<Progress>& ops = ranks.emplace_back(rank.ops.size());
        for (std::size_t i = 0; i < ops.size(); ++i) {
            ops[i].to_start = ops[i].to_combine = rank.ops[i].num_dependencies;
            for (const std::int32_t dependency : rank.dependencies_of(rank.ops[i]))
                ops[static_cast<std::size_t>(dependency)].dependents.push_back(static_cast<std::int32_t>(i));
            if (ops[i].to_start == 0) startable.push_back({r, static_cast<std::int32_t>(i)});
        }
    }
    const auto release = [&](At at) {
        if (--progress(at).to_start == 0) startable.push_back(at);
    };
    const auto complete = [&](auto&& self, At at) -> void {
        progress(at).state = State::completed;
        for (const std::int32_t dependent : progress(at).dependents) {
            const At next{at.rank, dependent};
            const bool early = reduces(op_at(next).kind) && op_at(at).kind == OpKind::send;  // released by the start
            if (!early) release(next);
            if (--progress(next).to_combine == 0 && progress(next).state == State::taken) {
                steps.combine(Rank{next.rank}, next.op);
                self(self, next);
            }
        }
    };
    while (!startable.empty()) {
        const At at = startable.front();
        startable.pop_front();
        progress(at).state = State::started;
        const bool sends = op_at(at).kind == OpKind::send;
        if (sends)
            for (const std::int32_t dependent : progress(at).dependents)
                if (reduces(op_at({at.rank, dependent}).kind)) release({at.rank, dependent});
        const At other{op_at(at).peer.value,
                       matching[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.op)]};
        if (progress(other).state != State::started) continue;
        const At source = sends ? at : other;
        const At target = sends ? other : at;
        steps.transfer(Rank{source.rank}, source.op, Rank{target.rank}, target.op);
        progress(target).state = State::taken;
        complete(complete, source);
        if (!reduces(op_at(target).kind)) {
            complete(complete, target);
        } else if (progress(target).to_combine == 0 && progress(target).state == State::taken) {
            steps.combine(Rank{target.rank}, target.op);
            complete(complete, target);
        }
    }
    for (std::int32_t r = 0; r < schedule.num_ranks; ++r) {
        const std::vector<Progress>& ops = ranks[static_cast<std::size_t>(r)];
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].state == State::completed) continue;
            violations.push_back(describe(schedule, Rank{r}, static_cast<std::int32_t>(i)) +
                                 ": deadlock: it never completes when sends wait for their receivers");
            break;  // the first of a rank is the cause, or waits for another rank
        }
    }
}

bool execute(const Schedule& schedule, const Matching& matching, Violations& violations) {
    const bool reduction = combines(schedule.collective);
    const std::int32_t p = schedule.num_ranks;
    Contributions contributions(reduction ? p : 0);
    Places places(reduction, p, num_chunks(schedule.collective, p, schedule.segments));
    for (std::int32_t r = 0; r < p; ++r)
        for_each_chunk(condition_of(schedule, r).before,
                       [&](std::int32_t c) { places.set(Rank{r}, c, reduction ? r : 0); });

    const auto chunks_of = [&](Rank rank, std::int32_t op) {
        return schedule.ranks[rank.at()].chunks_of(schedule.ranks[rank.at()].ops[static_cast<std::size_t>(op)]);
    };
    std::map<std::pair<Rank, std::int32_t>, std::vector<Value>> taken;  // messages that wait to be combined
    Steps steps;
    steps.transfer = [&](Rank source, std::int32_t send, Rank target, std::int32_t receive) {
        const bool reduces_it = reduces(schedule.ranks[target.at()].ops[static_cast<std::size_t>(receive)].kind);
        std::vector<Value>* const message = reduces_it ? &taken[{target, receive}] : nullptr;
        for_each_chunk(chunks_of(source, send), [&](std::int32_t chunk) {
            const Value value = places.get(source, chunk);
            if (value == nothing)
                violations.push_back(describe(schedule, source, send) + ": chunk " + std::to_string(chunk) +
                                     ": expected its data, found none: the rank has not received it");
            if (message != nullptr)
                message->push_back(value);
            else
                places.set(target, chunk, value);
        });
    };
    steps.combine = [&](Rank rank, std::int32_t op) {
        const auto message = taken.extract({rank, op});
        const bool left = schedule.ranks[rank.at()].ops[static_cast<std::size_t>(op)].kind == OpKind::recv_reduce_left;
        std::size_t i = 0;
        for_each_chunk(chunks_of(rank, op), [&](std::int32_t chunk) {
            const Value received = message.mapped()[i++];
            const Value own = places.get(rank, chunk);
            if (const std::int32_t twice = contributions.common(received, own); twice >= 0)
                violations.push_back(describe(schedule, rank, op) + ": chunk " + std::to_string(chunk) +
                                     ": the contribution of rank " + std::to_string(twice) +
                                     " is added twice: received those of " + contributions.describe(received) +
                                     ", had those of " + contributions.describe(own));
            places.set(rank, chunk, left ? contributions.combine(received, own) : contributions.combine(own, received));
        });
    };
    run(schedule, matching, steps, violations);
    if (!violations.empty()) return false;

    bool in_order = true;
    std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>>
        trees;  // allreduce: chunk -> (tree, rank that has it)
    for (std::int32_t r = 0; r < p; ++r) {
        for_each_chunk(condition_of(schedule, r).after, [&](std::int32_t chunk) {
            const Value value = places.get(Rank{r}, chunk);
            const std::string where =
                "rank " + std::to_string(r) + ": chunk " + std::to_string(chunk) + " at the end: ";
            if (value == nothing) {
                violations.push_back(where + "expected its data, found none");
            } else if (reduction && !contributions.complete(value)) {
                violations.push_back(where + "expected the contributions of all " + std::to_string(p) +
                                     " ranks, found those of " + contributions.describe(value));
            } else if (reduction) {
                in_order = in_order && contributions.in_rank_order(value);
                const auto [first, is_new] = trees.try_emplace(chunk, contributions.tree(value), r);
                if (!is_new && first->second.first != contributions.tree(value))
                    violations.push_back(where + "expected the contributions combined in the same tree as on rank " +
                                         std::to_string(first->second.second) +
                                         ", found another: results would not be identical");
            }
        });
    }
    return in_order;
}

bool execute_barrier(const Schedule& schedule, const Matching& matching, Violations& violations) {
    using Set = std::vector<bool>;
    const auto p = static_cast<std::size_t>(schedule.num_ranks);
    const auto join = [](Set& into, const Set& from) {
        for (std::size_t i = 0; i < from.size(); ++i) into[i] = into[i] || from[i];
    };
    // [rank][op] what the rank knows for certain once the op has completed: by what it depends on, not by what happened
    // to arrive.
    std::vector<std::vector<Set>> known(p);
    for (std::size_t r = 0; r < p; ++r) known[r].resize(schedule.ranks[r].ops.size());
    const auto known_before = [&](Rank rank, std::int32_t index) {
        Set set(p, false);
        set[rank.at()] = true;
        const RankSchedule& ops = schedule.ranks[rank.at()];
        for (const std::int32_t dependency : ops.dependencies_of(ops.ops[static_cast<std::size_t>(index)]))
            join(set, known[rank.at()][static_cast<std::size_t>(dependency)]);
        return set;
    };
    Steps steps;
    steps.transfer = [&](Rank source, std::int32_t send, Rank target, std::int32_t receive) {
        Set message = known_before(source, send);
        Set received = known_before(target, receive);
        join(received, message);
        known[source.at()][static_cast<std::size_t>(send)] = std::move(message);
        known[target.at()][static_cast<std::size_t>(receive)] = std::move(received);
    };
    run(schedule, matching, steps, violations);
    if (!violations.empty()) return false;
    for (std::size_t r = 0; r < p; ++r) {
        Set all(p, false);
        all[r] = true;
        for (const Set& set : known[r]) join(all, set);
        for (std::size_t other = 0; other < p; ++other)
            if (!all[other])
                violations.push_back("rank " + std::to_string(r) + ": chunk " + std::to_string(other) +
                                     " at the end: expected to know that rank " + std::to_string(other) +
                                     " has entered, found no chain of messages from it");
    }
    return true;
}

}  // namespace hocket::schedule
