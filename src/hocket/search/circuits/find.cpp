// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/find.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "hocket/base/error.hpp"
#include "hocket/search/circuits/bounds.hpp"
#include "hocket/search/circuits/one_segment.hpp"
#include "hocket/search/circuits/pipelined.hpp"
#include "hocket/search/circuits/serial.hpp"
#include "hocket/search/circuits/steps.hpp"

namespace hocket::search {
namespace {

using circuits::CircuitSchedule;
using circuits::Controller;
using circuits::Draft;
using circuits::Injection;
using circuits::Rules;

constexpr std::int32_t most_nodes = 4096;
constexpr std::int32_t most_alltoall_nodes = 128;  // a block for each pair
constexpr std::int32_t most_gossip_nodes = 256;
constexpr std::int32_t most_ports_tried = 8;  // of allgathers that become allreduces: for the time of the search
constexpr double most_work = 6e7;             // of the attempts by chance: about a second

class Search {
public:
    Search(const CircuitProblem& problem, const std::function<bool()>& go_on)
        : problem_(problem),
          rules_(problem.rules),
          go_on_(go_on),
          random_(problem.seed),
          end_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(std::min(problem.time_limit_s, 1e8)))) {
        if (problem.collective != Collective::reduce) return;
        // The broadcast that is searched runs backwards: what a node sends there, it receives here, on all its ports.
        std::swap(rules_.times.setup_s, rules_.times.teardown_s);
        rules_.injection = Injection::all;
    }

    CircuitAnswer run() {
        answer_.lower_bound_s = circuit_bound_s(problem_.collective, problem_.rules, problem_.bytes, problem_.segments);
        switch (rules_.num_nodes == 1 ? Collective::barrier : problem_.collective) {
            case Collective::barrier:
                offer(whole({problem_.bytes, {}, {}, 0}), "nothing to do", problem_.segments.value_or(1));
                break;
            case Collective::allgather:
                allgather();
                break;
            case Collective::allreduce:
                allreduce();
                break;
            case Collective::alltoall:
                alltoall();
                break;
            default:
                broadcast();
        }
        CircuitSchedule& schedule = answer_.schedule;
        if (problem_.collective == Collective::reduce) {
            // Circuits that a serial controller opens one by one would be torn down one by one, not together.
            const bool together = rules_.controller == Controller::serial && rules_.stop == circuits::Stop::all;
            schedule = together ? turned(schedule) : circuits::reversed(schedule);
            answer_.optimal = answer_.optimal && !together;
        }
        answer_.optimal = answer_.optimal || schedule.makespan_s <= answer_.lower_bound_s * (1 + 1e-12);
        if (answer_.optimal) answer_.lower_bound_s = schedule.makespan_s;
        return std::move(answer_);
    }

private:
    void offer(CircuitSchedule schedule, const std::string& algorithm, std::int32_t blocks) {
        if (found_ && schedule.makespan_s >= answer_.schedule.makespan_s) return;
        found_ = true;
        answer_.schedule = std::move(schedule);
        answer_.algorithm = algorithm;
        answer_.blocks = blocks;
    }

    bool may_go_on(double work) {
        work_ += work;
        return work_ < most_work && std::chrono::steady_clock::now() < end_ && (!go_on_ || go_on_());
    }

    void broadcast() {
        const double bytes = problem_.bytes;
        if (rules_.controller == Controller::parallel) {
            offer(whole(broadcast_one_segment(rules_, bytes)), "one message", problem_.segments.value_or(1));
            answer_.optimal = problem_.segments == 1;
        } else {
            const SerialAnswer serial = broadcast_serially(rules_, bytes, [this] { return may_go_on(1e3); });
            offer(whole(serial.schedule), "one message", problem_.segments.value_or(1));
            answer_.optimal = serial.optimal && problem_.segments == 1;
        }
        if (problem_.segments == 1) return;
        if (rules_.ports > 1 || rules_.num_nodes == 2) {
            pipelined();
            if (varies()) pipelined();
        }
        in_parts();
    }

    /// With many configurations: a part for each node, then an allgather.
    void in_parts() {
        const std::int32_t p = rules_.num_nodes, wanted = problem_.segments.value_or(p);
        if (p > most_gossip_nodes || wanted % p != 0) return;
        for (const Steps& steps : divided_bcast_steps(p, problem_.bytes, rules_.ports))
            for (std::int32_t ports = 1; ports <= std::min({rules_.ports, p - 1, most_ports_tried}); ++ports) {
                Draft draft = by_configurations(steps, p, ports);
                draft.receives_one = receives_one();
                offer(divided(circuits::timed(draft, rules_), wanted, p), std::string(steps.algorithm), wanted);
            }
    }

    /// What was made for one segment, with all segments in each message.
    CircuitSchedule whole(CircuitSchedule schedule) const {
        return divided(std::move(schedule), problem_.segments.value_or(1), 1);
    }
    /// From a schedule of `made` segments one of `wanted`, a multiple of them.
    static CircuitSchedule divided(CircuitSchedule schedule, std::int32_t wanted, std::int32_t made) {
        const std::int32_t each = wanted / made;
        if (each == 1) return schedule;
        schedule.block_bytes /= each;
        for (circuits::Message& message : schedule.messages) {
            std::vector<std::int32_t> blocks;
            for (const std::int32_t block : message.blocks)
                for (std::int32_t i = 0; i < each; ++i) blocks.push_back(block * each + i);
            message.blocks = std::move(blocks);
        }
        return schedule;
    }

    /// The messages backwards, with new times.
    [[nodiscard]] CircuitSchedule turned(const CircuitSchedule& schedule) const {
        const CircuitSchedule backwards = circuits::reversed(schedule);
        Draft draft{backwards.block_bytes, false, {}};
        for (const circuits::Message& message : backwards.messages)
            draft.messages.push_back({backwards.circuits[static_cast<std::size_t>(message.circuit)].configuration,
                                      static_cast<std::int32_t>(draft.messages.size()), message.from, message.to,
                                      message.blocks, true});
        return circuits::timed(draft, problem_.rules);
    }

    void offer_rounds(const std::vector<RoundMessage>& messages, std::int32_t segments, const std::string& algorithm) {
        const std::int32_t wanted = problem_.segments.value_or(segments);
        Draft draft = draft_of(messages, problem_.bytes / segments);
        draft.receives_one = receives_one();
        offer(divided(circuits::timed(draft, rules_), wanted, segments), algorithm, wanted);
    }

    /// A reduction backwards, of a node that sends one message at a time.
    [[nodiscard]] bool receives_one() const {
        return problem_.collective == Collective::reduce && problem_.rules.injection == Injection::one;
    }

    void pipelined() {
        const std::int32_t p = rules_.num_nodes;
        const bool ring = p % 2 == 0 && problem_.rules.injection == Injection::one && rules_.ports >= 2;
        if (ring) {
            std::int32_t best = 1;
            double best_s = std::numeric_limits<double>::infinity();
            for (const std::int32_t m : ring_segments()) {
                const double time_s = (m - 1 + p / 2) * rules_.message_s(problem_.bytes / m);
                if (time_s < best_s) {
                    best_s = time_s;
                    best = m;
                }
            }
            offer_rounds(ring_broadcast(p, best), best, "ring in both directions");
            const bool sends_one = rules_.injection == Injection::one;  // then nothing in rounds is faster
            if (sends_one && rules_.ports == 2 && rules_.controller == Controller::parallel) return;
        }
        std::vector<std::int32_t> candidates = round_segments();
        std::vector<std::int32_t> fewest(candidates.size(), 1 << 20);
        const RoundRules round_rules{rules_.injection == Injection::all, receives_one()};
        for (int attempt = 0;; ++attempt) {
            const Graph graph = attempted_graph(attempt);
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                const std::int32_t m = candidates[i];
                // Rounds that would not be faster than the best schedule are not worth looking at.
                const double left_s = answer_.schedule.makespan_s - rules_.times.setup_s - rules_.times.teardown_s;
                const double hop_s = rules_.message_s(problem_.bytes / m);
                const double most = hop_s > 0 ? left_s / hop_s : 0;
                for (int again = 0; again < 4; ++again) {
                    const auto limit = static_cast<std::int32_t>(std::min(most - 1e-6, fewest[i] - 1.0));
                    // The root sends each segment once: on all its ports at once, or one in a round.
                    const std::int32_t at_once = round_rules.send_on_all ? std::min(rules_.ports, p - 1) : 1;
                    if (limit < (m + at_once - 1) / at_once) break;
                    const auto rounds = round_broadcast(graph, m, round_rules, limit, random_);
                    if (rounds) {
                        fewest[i] = rounds->back().round + 1;
                        offer_rounds(*rounds, m, "segments in rounds");
                    }
                    const double work = 20.0 * m * rules_.num_nodes;
                    if (!may_go_on(work)) return;
                }
            }
            // Each attempt counts, even if no number of segments was worth one.
            if (!may_go_on(1e5)) return;
        }
    }

    Graph attempted_graph(int attempt) {
        const std::int32_t p = rules_.num_nodes;
        // A serial controller pays for each circuit: from a tree with the fewest to all that there are ports for.
        if (rules_.controller == Controller::serial && !varied_)
            return level_tree(p, 2 + static_cast<std::int32_t>(random_.below(std::max(1, rules_.ports - 1))));
        if (rules_.controller == Controller::serial && attempt % 4 != 3) {
            const std::int32_t ports = std::min(rules_.ports, p - 1);
            const auto degree = 2 + static_cast<std::int32_t>(random_.below(std::max(1, ports - 1)));
            Graph graph = attempt % 4 == 2 ? random_graph(GraphKind::cycles, p, std::min(ports, 2), random_)
                                           : level_tree(p, 2 + attempt / 4 % std::max(1, ports - 1));
            if (attempt % 4 != 0)
                add_circuits(graph, ports, static_cast<std::int32_t>(random_.below(p * degree / 2 + 1)), random_);
            return graph;
        }
        constexpr GraphKind kinds[] = {GraphKind::cycles, GraphKind::circulant, GraphKind::random};
        return random_graph(kinds[(attempt / (rules_.controller == Controller::serial ? 4 : 1)) % 3], p, rules_.ports,
                            random_);
    }

    [[nodiscard]] std::vector<std::int32_t> divisors(std::int32_t most) const {
        std::vector<std::int32_t> result;
        for (std::int32_t m = 1; m <= std::min(most, *problem_.segments); ++m)
            if (*problem_.segments % m == 0) result.push_back(m);
        return result;
    }
    [[nodiscard]] std::vector<std::int32_t> ring_segments() const {
        if (problem_.segments) return divisors(1 << 14);
        std::vector<std::int32_t> result;
        for (std::int32_t m = 1; m <= 1024; ++m) result.push_back(m);
        return result;
    }
    [[nodiscard]] std::vector<std::int32_t> round_segments() const {
        if (problem_.segments) return divisors(most_segments);
        // (m - 1 + r)(alpha + n beta / m) is least at sqrt((r - 1) n beta / alpha); r is not known yet.
        const double r = std::max(1.0, std::log2(rules_.num_nodes)) + 2;
        const double bytes_s = problem_.bytes * rules_.s_per_byte;
        const double best = rules_.latency_s > 0 ? std::sqrt(r * bytes_s / rules_.latency_s) : most_segments;
        std::set<std::int32_t> result{1};
        for (const double factor : {0.6, 0.75, 0.9, 1.0, 1.15, 1.3, 1.6})
            result.insert(static_cast<std::int32_t>(std::clamp(std::round(best * factor), 1.0, 1.0 * most_segments)));
        return {result.begin(), result.end()};
    }

    void offer_steps(const std::vector<Steps>& algorithms) {
        for (const Steps& steps : algorithms) {
            // Few ports a configuration may be better than many: with a serial controller, and by the order of steps.
            for (std::int32_t ports = 1; ports <= std::min(rules_.ports, rules_.num_nodes - 1); ++ports)
                if (ports == rules_.ports || ports < 8)
                    offer(circuits::timed(by_configurations(steps, rules_.num_nodes, ports), rules_),
                          std::string(steps.algorithm), steps.blocks);
            if (!may_go_on(0)) return;
        }
    }

    template <typename Make>
    void offer_graphs(const Make& make, std::int32_t blocks) {
        if (rules_.ports < 2 && rules_.num_nodes > 2) return;
        const double work = 4.0 * blocks * rules_.num_nodes * std::max(1, rules_.num_nodes / 8);
        do
            for (int attempt = 0; attempt < 400; ++attempt) {
                offer(circuits::timed(make(attempted_graph(attempt)), rules_), "one configuration, several hops",
                      blocks);
                if (!may_go_on(work)) break;
            }
        while (varies());
    }

    /// Once, after the trees of a serial controller: other graphs, with as much work.
    bool varies() {
        if (rules_.controller != Controller::serial || varied_ || !may_go_on(-work_)) return false;
        varied_ = true;
        return true;
    }

    void allgather() {
        const std::int32_t p = rules_.num_nodes;
        offer_steps(allgather_steps(p, problem_.bytes, rules_.ports));
        if (p > most_gossip_nodes) return;
        offer_graphs([&](const Graph& graph) { return gossip(graph, problem_.bytes, rules_); }, p);
    }

    void alltoall() {
        const std::int32_t p = rules_.num_nodes;
        offer_steps(alltoall_steps(p, problem_.bytes, rules_.ports));
        offer_graphs([&](const Graph& graph) { return route(graph, problem_.bytes, rules_, random_); }, p * p);
    }

    void allreduce() {
        const std::int32_t p = rules_.num_nodes;
        offer_steps(allreduce_steps(p, problem_.bytes));
        for (const Steps& steps : allgather_steps(p, problem_.bytes / p, rules_.ports))
            for (std::int32_t ports = 1; ports <= std::min({rules_.ports, p - 1, most_ports_tried}); ++ports)
                offer(circuits::timed(allreduce_of(by_configurations(steps, p, ports)), rules_),
                      std::string(steps.algorithm) + " backwards and forwards", p);
        // A reduction and a broadcast: what the broadcast ends with is what the reduction begins with.
        Rules configured = rules_;
        configured.stop = circuits::Stop::all;
        configured.controller = Controller::parallel;
        for (const auto& rounds : fewest_rounds(p, rules_.ports, rules_.injection))
            if (!rounds.empty())
                offer(circuits::timed(allreduce_of(configurations_draft(configured, problem_.bytes, rounds)), rules_),
                      "reduction and broadcast", 1);
        if (p > most_gossip_nodes) return;
        offer_graphs([&](const Graph& graph) { return allreduce_of(gossip(graph, problem_.bytes / p, rules_)); }, p);
    }

    const CircuitProblem& problem_;
    Rules rules_;
    const std::function<bool()>& go_on_;
    base::Random random_;
    std::chrono::steady_clock::time_point end_;
    CircuitAnswer answer_{};
    bool found_ = false;
    double work_ = 0;
    bool varied_ = false;
};

void check(const CircuitProblem& problem) {
    const auto require = [](bool ok, const std::string& name, const std::string& value, const std::string& expected) {
        if (!ok) throw InvalidInput(name + " is " + value + ": expected " + expected);
    };
    const auto require_number = [&](double value, const char* name) {
        require(value >= 0 && std::isfinite(value), name, std::to_string(value), "a finite number, at least 0");
    };
    const Rules& rules = problem.rules;
    constexpr Collective known[] = {Collective::bcast, Collective::reduce, Collective::allgather, Collective::allreduce,
                                    Collective::alltoall};
    require(std::ranges::find(known, problem.collective) != std::end(known), "collective",
            std::string(name_of(problem.collective)), "bcast, reduce, allgather, allreduce or alltoall");
    const std::int32_t most = problem.collective == Collective::alltoall ? most_alltoall_nodes : most_nodes;
    require(rules.num_nodes >= 1 && rules.num_nodes <= most, "p", std::to_string(rules.num_nodes),
            "1 to " + std::to_string(most));
    require(rules.ports >= 1, "k", std::to_string(rules.ports), "at least 1");
    require_number(problem.bytes, "bytes");
    require_number(rules.times.setup_s, "s");
    require_number(rules.times.teardown_s, "d");
    require_number(rules.latency_s, "alpha");
    require_number(rules.s_per_byte, "beta");
    const std::int32_t segments = problem.segments.value_or(1);
    const bool divides = problem.collective == Collective::bcast || problem.collective == Collective::reduce;
    require(segments >= 1 && segments <= 1 << 14, "segments", std::to_string(segments), "1 to 16384");
    require(divides || segments == 1, "segments", std::to_string(segments),
            "1, as the blocks of " + std::string(name_of(problem.collective)) + " are not divided");
}

}  // namespace

CircuitAnswer find_circuit_schedule(const CircuitProblem& problem, const std::function<bool()>& go_on) {
    check(problem);
    return Search(problem, go_on).run();
}

}  // namespace hocket::search
