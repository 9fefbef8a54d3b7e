// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The critical path of a simulation: from the operation that ends last back to what made each one end when it did.

#include <algorithm>
#include <limits>

#include "hocket/analysis/critical_path.hpp"
#include "hocket/analysis/path_builder.hpp"
#include "hocket/simulation/handshakes.hpp"
#include "hocket/simulation/matching.hpp"
#include "hocket/simulation/simulate.hpp"

namespace hocket::analysis {

namespace {

/// Times that differ by less, as a share of the makespan, are the same: what ends at an instant ends within rounding.
constexpr double same_instant = 1e-11;

class Walk {
public:
    Walk(const Trace& trace, const replay::Replayed& replayed, const Program& program, const Timeline& timeline,
         const Network& network, const CostModel& costs)
        : trace_(trace),
          program_(program),
          timeline_(timeline),
          network_(network),
          costs_(*costs),
          matched_(simulation::match(program)),
          same_s_(same_instant * timeline.makespan_s) {
        find_functions(replayed);
        name_handshakes(replayed.program);
        sort_processors();
        sort_pairs();
    }

    std::vector<PathStep> run() {
        std::int32_t op = last_op();
        now_s_ = timeline_.makespan_s;
        // Each step leads to an op that is before in the order of causes; the limit is against rounding.
        for (std::int64_t left = 4 * std::int64_t{num_ops()} + 4; op >= 0 && left > 0; --left) op = cause_of(op);
        return path_.take();
    }

private:
    [[nodiscard]] std::int32_t num_ops() const { return static_cast<std::int32_t>(matched_.message_of.size()); }
    [[nodiscard]] std::int32_t rank_of(std::int32_t op) const {
        const auto next = std::ranges::upper_bound(matched_.first_op, op);
        return static_cast<std::int32_t>(next - matched_.first_op.begin()) - 1;
    }
    [[nodiscard]] std::int32_t index_in(std::int32_t rank, std::int32_t op) const {
        return op - matched_.first_op[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] const ProgramOp& what(std::int32_t op) const {
        const std::int32_t rank = rank_of(op);
        return program_.ranks[static_cast<std::size_t>(rank)].ops[static_cast<std::size_t>(index_in(rank, op))];
    }
    [[nodiscard]] const Timeline::Interval& interval(std::int32_t op) const {
        const std::int32_t rank = rank_of(op);
        return timeline_.ranks[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index_in(rank, op))];
    }

    void find_functions(const replay::Replayed& replayed) {
        functions_.assign(matched_.message_of.size(), PathStep::computation);
        for (std::size_t r = 0; r < replayed.call_ops.size(); ++r) {
            const auto& begun = replayed.call_ops[r].begun;
            for (std::size_t c = 0; c < begun.size(); ++c)
                for (std::int32_t op = begun[c].first; op < begun[c].end; ++op)
                    functions_[static_cast<std::size_t>(matched_.first_op[r] + op)] =
                        trace_.rank(static_cast<std::int32_t>(r)).calls[c].function;
        }
    }

    /// Requests and answers, which stand behind the ops of a rank, belong to the calls of their messages.
    void name_handshakes(const Program& without) {
        for (const simulation::Message& message : matched_.messages) {
            const std::int32_t source = rank_of(message.send);
            const auto& part = program_.ranks[static_cast<std::size_t>(source)];
            const auto dependencies = part.dependencies_of(what(message.send));
            if (dependencies.empty()) continue;
            const auto own = without.ranks[static_cast<std::size_t>(source)].ops.size();
            if (static_cast<std::size_t>(dependencies.front()) < own) continue;  // no answer
            const std::int32_t answered = matched_.first_op[static_cast<std::size_t>(source)] + dependencies.front();
            const std::int32_t answer = of(answered).send;
            const auto function = [&](std::int32_t op) -> std::int32_t& {
                return functions_[static_cast<std::size_t>(op)];
            };
            function(answered) = function(answered - 1) = function(message.send);
            function(answer) = function(answer - 1) = function(message.recv);
        }
    }

    /// Until when the op has its rank's processor.
    [[nodiscard]] double processed_s(std::int32_t op) const {
        if (what(op).kind != ProgramOpKind::send) return interval(op).end_s;
        return interval(op).start_s +
               overhead_s(rank_of(op), what(op).peer.value, what(op).bytes, costs_.send_overhead_s);
    }

    /// What takes the rank's processor, by its end.
    void sort_processors() {
        by_end_.resize(program_.ranks.size());
        for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
            for (std::int32_t op = matched_.first_op[r]; op < matched_.first_op[r + 1]; ++op)
                if (processed_s(op) > interval(op).start_s) by_end_[r].push_back(op);
            std::ranges::sort(by_end_[r], {}, [&](std::int32_t op) { return processed_s(op); });
        }
    }

    /// The message of its pair that leaves before it.
    void sort_pairs() {
        std::vector<std::vector<std::int32_t>> of_pair(matched_.pairs.size());
        for (const simulation::Message& message : matched_.messages)
            of_pair[static_cast<std::size_t>(message.pair)].push_back(message.send);
        sent_before_.assign(matched_.message_of.size(), -1);
        for (auto& sends : of_pair) {
            std::ranges::stable_sort(sends, {}, [&](std::int32_t op) { return interval(op).end_s; });
            for (std::size_t i = 1; i < sends.size(); ++i)
                sent_before_[static_cast<std::size_t>(sends[i])] = sends[i - 1];
        }
    }

    [[nodiscard]] std::int32_t last_op() const {
        std::int32_t last = -1;
        double end_s = 0;
        for (std::int32_t op = 0; op < num_ops(); ++op)
            if (interval(op).end_s > end_s) end_s = interval(last = op).end_s;
        return last;
    }

    [[nodiscard]] double latency_s(std::int32_t from, std::int32_t to) const {
        double sum_s = 0;
        for (const LinkId link : network_.route(Rank{from}, Rank{to})) sum_s += network_.link(link).latency_s;
        return sum_s;
    }
    /// Of one end of a message, which costs `usual_s` if it leaves the host.
    [[nodiscard]] double overhead_s(std::int32_t from, std::int32_t to, std::int64_t bytes, double usual_s) const {
        const bool at_home = costs_.host_overhead_s && network_.host_of(Rank{from}) == network_.host_of(Rank{to});
        return (at_home ? *costs_.host_overhead_s : usual_s) + static_cast<double>(bytes) / costs_.copy_bytes_per_s;
    }

    /// The path is on this op from `start_s` on.
    void add(std::int32_t op, double start_s) { add(rank_of(op), functions_[static_cast<std::size_t>(op)], start_s); }
    void add(std::int32_t rank, std::int32_t function, double start_s) {
        start_s = std::clamp(start_s, 0.0, now_s_);
        path_.add_before({rank, function, start_s, now_s_});
        now_s_ = start_s;
    }

    /// The path is on the op; adds what that does until now, and returns what it waited for. -1 = for nothing.
    std::int32_t cause_of(std::int32_t op) {
        switch (what(op).kind) {
            case ProgramOpKind::recv:
                return cause_of_receive(op);
            case ProgramOpKind::send:
                return cause_of_send(op);
            default:
                add(op, interval(op).start_s);
                return before(op);
        }
    }

    std::int32_t cause_of_receive(std::int32_t op) {
        const std::int32_t rank = rank_of(op), from = what(op).peer.value, send = of(op).send;
        const double posted_s = interval(op).start_s, sent_s = interval(send).end_s;
        const double arrived_s = sent_s + latency_s(from, rank);
        const double taken_s = now_s_ - overhead_s(rank, from, of(op).bytes, costs_.receive_overhead_s);
        if (taken_s > std::max(arrived_s, posted_s) + same_s_) {
            const std::int32_t other = holder(rank, taken_s, op);
            if (other >= 0) {
                add(op, taken_s);
                return other;
            }
        }
        if (arrived_s > posted_s + same_s_) {
            add(op, sent_s);
            return send;
        }
        add(op, posted_s);
        return before(op);
    }

    std::int32_t cause_of_send(std::int32_t op) {
        const double start_s = interval(op).start_s;
        const std::int32_t previous = sent_before_[static_cast<std::size_t>(op)];
        if (previous >= 0) {
            const double left_s = interval(previous).end_s;
            if (left_s > processed_s(op) + same_s_ && left_s < now_s_) {
                add(op, left_s);
                return previous;
            }
        }
        add(op, start_s);
        return before(op);
    }

    [[nodiscard]] const simulation::Message& of(std::int32_t op) const {
        return matched_.messages[static_cast<std::size_t>(matched_.message_of[static_cast<std::size_t>(op)])];
    }

    /// What the rank's processor did until a time; -1 = nothing.
    [[nodiscard]] std::int32_t holder(std::int32_t rank, double until_s, std::int32_t but) const {
        const auto& works = by_end_[static_cast<std::size_t>(rank)];
        auto next =
            std::ranges::partition_point(works, [&](std::int32_t one) { return processed_s(one) < until_s - same_s_; });
        for (; next != works.end() && processed_s(*next) <= until_s + same_s_; ++next)
            if (*next != but) return *next;
        return -1;
    }

    /// The op started now: what ended last of those that it starts after, or what had its processor until now.
    std::int32_t before(std::int32_t op) {
        const std::int32_t rank = rank_of(op);
        const auto& part = program_.ranks[static_cast<std::size_t>(rank)];
        const std::int32_t first = matched_.first_op[static_cast<std::size_t>(rank)];
        std::int32_t latest = -1;
        for (const std::int32_t one : part.dependencies_of(what(op)))
            if (latest < 0 || interval(first + one).end_s > interval(latest).end_s) latest = first + one;
        const double ready_s = latest < 0 ? 0 : interval(latest).end_s;
        if (now_s_ <= ready_s + same_s_) return latest;
        const std::int32_t other = holder(rank, now_s_, op);
        if (other >= 0) return other;
        add(rank, PathStep::waiting_for_core, ready_s);
        return latest;
    }

    const Trace& trace_;
    const Program& program_;
    const Timeline& timeline_;
    const Network& network_;
    const CostParameters& costs_;
    simulation::Matched matched_;
    double same_s_;
    std::vector<std::int32_t> functions_;            // [op]
    std::vector<std::vector<std::int32_t>> by_end_;  // [rank]
    std::vector<std::int32_t> sent_before_;          // [op] or -1
    double now_s_ = 0;                               // the path is known from here on
    PathBuilder path_;
};

}  // namespace

SimulatedPath simulate_path(const Trace& trace, const replay::Replayed& replayed, const Network& network,
                            const CostModel& costs, const OnProgress& on_progress) {
    // With handshakes as ops their times are known, too.
    const auto shaken = simulation::with_handshakes(replayed.program, costs.rendezvous_limit_bytes());
    const Program& program = shaken ? *shaken : replayed.program;
    SimulationOptions options;
    CostParameters parameters = *costs;
    parameters.rendezvous_bytes = std::numeric_limits<std::int64_t>::max();
    options.costs = parameters;
    options.on_progress = on_progress;
    SimulatedPath found{simulate(program, network, options), {}};
    if (found.timeline.completed) found.steps = Walk(trace, replayed, program, found.timeline, network, costs).run();
    return found;
}

}  // namespace hocket::analysis
