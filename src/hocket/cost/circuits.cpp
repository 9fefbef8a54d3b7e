// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/circuits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/cost/require.hpp"

namespace hocket::cost {
namespace {

struct Arguments {
    double alpha, beta;  ///< s, s per byte
    std::int64_t p;
    double n;  ///< bytes
    [[nodiscard]] double message(double bytes) const { return alpha + bytes * beta; }
    /// ceil(log2 p)
    [[nodiscard]] std::int64_t rounds() const { return std::bit_width(static_cast<std::uint64_t>(p) - 1); }
    /// The largest power of two <= p; the ranks beyond it give what they have to a rank within, and get the result at
    /// the end.
    [[nodiscard]] std::int64_t power() const {
        return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(p)));
    }
    [[nodiscard]] std::int64_t power_rounds() const { return std::bit_width(static_cast<std::uint64_t>(power())) - 1; }
    [[nodiscard]] bool is_power() const { return power() == p; }
};

/// Steps of the busiest node, of one message each. Its circuits are wanted in the order of its steps.
struct Steps {
    double messages_s;
    std::int64_t count;                 ///< batches if each message has a circuit of its own
    std::int64_t distinct;              ///< different partners
    std::int64_t least_ports = 1;       ///< a node with fewer cannot keep the circuits of one step
    std::int64_t count_with_fewer = 0;  ///< batches then
    bool comes_together = false;        ///< it receives the messages of a batch at a time: `messages_s` is of one batch
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Equations 1 and 2: the root has a circuit to each other node.
Steps linear(const Arguments& a) { return {static_cast<double>(a.p - 1) * a.message(a.n), a.p - 1, a.p - 1}; }

/// The root receives on all its ports at a time.
Steps linear_to_root(const Arguments& a) {
    return {.messages_s = a.message(a.n), .count = a.p - 1, .distinct = a.p - 1, .comes_together = true};
}

/// Equations 7 and 8: the root sends in each of ceil(log2 p) rounds.
Steps binomial(const Arguments& a) {
    return {static_cast<double>(a.rounds()) * a.message(a.n), a.rounds(), a.rounds()};
}

/// The same with blocks: 1, 2, 4, ... of them, p - 1 in all.
Steps binomial_blocks(const Arguments& a) {
    return {static_cast<double>(a.rounds()) * a.alpha + static_cast<double>(a.p - 1) * a.n * a.beta, a.rounds(),
            a.rounds()};
}

/// Equations 3 and 4. Every node sends to its right and receives from its left: two circuits, which stay. A circuit for
/// each message joins the pairs of a matching at a time: two matchings hold the ring of an even number of nodes, three
/// of an odd one.
Steps ring(const Arguments& a) {
    const double messages_s = static_cast<double>(a.p - 1) * a.message(a.n);
    if (a.p == 2) return {messages_s, 1, 1};
    const std::int64_t matchings = a.p % 2 == 0 ? 2 : 3;
    return {messages_s, matchings * (a.p - 1), 1, 2, matchings * (a.p - 1)};
}

/// Ranks beyond the power of two add a step before and one after, between the same two nodes.
Steps folded(const Arguments& a, double within_s, double before_s, double after_s) {
    const std::int64_t rounds = a.power_rounds();
    if (a.is_power()) return {within_s, rounds, rounds};
    return {before_s + within_s + after_s, rounds + 2, rounds + 1};
}

/// Equations 5 and 6.
Steps recursive_doubling_blocks(const Arguments& a) {
    double within_s = 0;
    const std::int64_t outside = a.p - a.power();
    // The busiest message of a step carries the blocks of the ranks outside as well.
    for (std::int64_t count = 1; count < a.power(); count *= 2)
        within_s += a.message(static_cast<double>(count + std::min(count, outside)) * a.n);
    return folded(a, within_s, a.message(a.n), a.message(static_cast<double>(a.p - 1) * a.n));
}

/// Every step moves the whole message.
Steps recursive_doubling(const Arguments& a) {
    return folded(a, static_cast<double>(a.power_rounds()) * a.message(a.n), a.message(a.n), a.message(a.n));
}

/// As the paper counts an alltoall "by recursive doubling": the volume of the allgather of equation 5.
Steps alltoall_as_allgather(const Arguments& a) { return recursive_doubling_blocks(a); }

/// Blocks stored and forwarded along the dimensions of a hypercube: each step moves half of what a node has.
Steps hypercube(const Arguments& a) {
    const double held = static_cast<double>(a.p) * (a.is_power() ? 1 : 2);  // blocks, with those of the rank outside
    const double within_s = static_cast<double>(a.power_rounds()) * a.message(held / 2 * a.n);
    const double all_s = a.message(static_cast<double>(a.p) * a.n);
    return folded(a, within_s, all_s, all_s);
}

/// Every pair meets once: p - 1 rounds, or p of an odd number of nodes, of which one waits.
Steps pairwise(const Arguments& a) {
    const std::int64_t rounds = a.p % 2 == 0 ? a.p - 1 : a.p;
    return {static_cast<double>(rounds) * a.message(a.n), rounds, a.p - 1};
}

Steps barrier(const Arguments& a) {
    return folded(a, static_cast<double>(a.power_rounds()) * a.alpha, a.alpha, a.alpha);
}

struct Form {
    Collective collective;
    std::string_view algorithm;
    Steps (*steps)(const Arguments&);
};

constexpr std::array forms{
    Form{Collective::bcast, "linear", linear},
    Form{Collective::bcast, "binomial", binomial},
    Form{Collective::reduce, "linear", linear_to_root},
    Form{Collective::reduce, "binomial", binomial},
    Form{Collective::scatter, "linear", linear},
    Form{Collective::scatter, "binomial", binomial_blocks},
    Form{Collective::gather, "linear", linear_to_root},
    Form{Collective::gather, "binomial", binomial_blocks},
    Form{Collective::allgather, "ring", ring},
    Form{Collective::allgather, "recursive_doubling", recursive_doubling_blocks},
    Form{Collective::allreduce, "recursive_doubling", recursive_doubling},
    Form{Collective::reduce_scatter_block, "ring", ring},
    Form{Collective::alltoall, "recursive_doubling", alltoall_as_allgather},
    Form{Collective::alltoall, "hypercube", hypercube},
    Form{Collective::alltoall, "pairwise", pairwise},
    Form{Collective::barrier, "recursive_doubling", barrier},
};

std::int64_t batches(const Steps& steps, std::optional<std::int32_t> ports) {
    if (!ports) return steps.count;
    if (*ports < steps.least_ports) return steps.count_with_fewer;
    if (steps.distinct <= *ports) return 1;
    return ceil_div(steps.count, *ports);
}

double messages_s(const Steps& steps, const CircuitQuestion& question) {
    if (steps.comes_together) return static_cast<double>(batches(steps, question.ports)) * steps.messages_s;
    // Of a ring with one port a node sends while it does not receive.
    if (steps.least_ports == 1 || (question.ports && *question.ports >= steps.least_ports)) return steps.messages_s;
    return steps.messages_s * static_cast<double>(steps.count_with_fewer) / static_cast<double>(question.num_ranks - 1);
}

}  // namespace

double connection_s(std::int64_t batches, const circuits::Times& times) {
    if (batches == 0) return 0;
    return times.setup_s + static_cast<double>(batches - 1) * times.exchange_s() + times.teardown_s;
}

CircuitCost circuit_cost(Collective collective, std::string_view algorithm, const CircuitQuestion& question) {
    require_at_least_1(question.num_ranks, "number of ranks");
    require_at_least_1(question.ports.value_or(1), "number of ports");
    require(question.bytes >= 0 && std::isfinite(question.bytes), "bytes", std::to_string(question.bytes),
            "at least 0");
    require_bandwidth(question.bandwidth_bytes_per_s);
    require_time(question.latency_s, "latency");
    require_time(question.times.setup_s, "setup");
    require_time(question.times.teardown_s, "teardown");
    for (const Form& form : forms) {
        if (form.collective != collective || form.algorithm != algorithm) continue;
        if (question.num_ranks == 1) return {0, 0, 0};
        const Steps steps =
            form.steps({question.latency_s, 1 / question.bandwidth_bytes_per_s, question.num_ranks, question.bytes});
        const std::int64_t count = batches(steps, question.ports);
        return {messages_s(steps, question), count, connection_s(count, question.times)};
    }
    const auto known = circuit_algorithms(collective);
    if (known.empty()) throw InvalidInput("no closed form on circuits for " + std::string(name_of(collective)));
    throw InvalidInput("no closed form on circuits for the algorithm " + base::quoted(algorithm) + " of " +
                           std::string(name_of(collective)) + "; accepted: " + base::list_of(known),
                       base::did_you_mean(algorithm, known));
}

std::vector<std::string_view> circuit_algorithms(Collective collective) {
    std::vector<std::string_view> names;
    for (const Form& form : forms)
        if (form.collective == collective) names.push_back(form.algorithm);
    return names;
}

}  // namespace hocket::cost
