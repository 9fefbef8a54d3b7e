// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/hockney.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/cost/require.hpp"

namespace hocket::cost {
namespace {

struct Arguments {
    double alpha, beta;  ///< s, s per byte
    std::int32_t ranks;
    double p, n, k;  ///< ranks, bytes, segments
    [[nodiscard]] double message(double size_bytes) const { return alpha + size_bytes * beta; }
    /// ceil(log2 p)
    [[nodiscard]] double rounds() const { return std::bit_width(static_cast<std::uint32_t>(ranks) - 1); }
    /// The largest power of two <= p, for algorithms that need one.
    [[nodiscard]] double power() const { return std::bit_floor(static_cast<std::uint32_t>(ranks)); }
    [[nodiscard]] double power_rounds() const { return std::log2(power()); }
    [[nodiscard]] bool is_power() const { return std::has_single_bit(static_cast<std::uint32_t>(ranks)); }
};

double one_after_another(const Arguments& a) { return (a.p - 1) * a.message(a.n); }

/// A rank with ceil(log2 p) children serves them all with a segment before it turns to the next segment.
double binomial(const Arguments& a) { return a.rounds() * a.k * a.message(a.n / a.k); }

/// Each message but a rank's last is answered.
double binomial_in_turn(const Arguments& a) { return a.rounds() * a.message(a.n) + (a.rounds() - 1) * a.alpha; }

/// Messages of one rank, one after another, that take the p ranks' digits to the base `radix` through all their values:
/// radix - 1 for each digit, fewer for the highest.
double digit_turns(std::int64_t p, std::int64_t radix) {
    std::int64_t turns = 0, unit = 1;
    for (; unit * radix < p; unit *= radix) turns += radix - 1;
    return static_cast<double>(turns + (p - 1) / unit);
}

/// As binomial().
template <std::int64_t radix>
double knomial(const Arguments& a) {
    return digit_turns(a.ranks, radix) * a.k * a.message(a.n / a.k);
}

/// The last segment starts after the k-1 before it and passes p-1 links.
double pipelined_chain(const Arguments& a) { return (a.p - 2 + a.k) * a.message(a.n / a.k); }

/// Messages one after another until the last rank of a tree has a segment, whose ranks serve their children in turn:
/// the last child of each has the largest part of the rest. See place_in_split_tree().
double split_tree_turns(std::int64_t size, std::int64_t fanout) {
    double turns = 0;
    while (size > 1) {
        const std::int64_t parts = std::min(size - 1, fanout);
        turns += static_cast<double>(parts);
        size = (size - 2) / parts + 1;
    }
    return turns;
}

/// A rank serves all its children with a segment before it turns to the next.
template <std::int64_t fanout>
double split_tree(const Arguments& a) {
    const double children = std::min(a.p - 1, static_cast<double>(fanout));
    return (split_tree_turns(a.ranks, fanout) + (a.k - 1) * children) * a.message(a.n / a.k);
}

/// p-1 blocks of n bytes to and from each rank, each in k messages.
double ring(const Arguments& a) { return (a.p - 1) * a.k * a.message(a.n / a.k); }

/// Blocks that double or halve: p-1 blocks in ceil(log2 p) messages.
double doubling_blocks(const Arguments& a) { return a.rounds() * a.alpha + (a.p - 1) * a.n * a.beta; }

double scatter_in_turn(const Arguments& a) { return doubling_blocks(a) + (a.rounds() - 1) * a.alpha; }

/// The same with several messages in each step.
double allgather_bruck_4(const Arguments& a) { return digit_turns(a.ranks, 4) * a.alpha + (a.p - 1) * a.n * a.beta; }

/// Scatter of n/p to each rank, then the ring.
double bcast_scatter_allgather(const Arguments& a) {
    const double scatter = a.rounds() * a.alpha + (a.p - 1) / a.p * a.n * a.beta;
    return scatter + (a.p - 1) * a.k * a.message(a.n / a.p / a.k);
}

/// The ranks beyond the power of two get the whole message at the end.
double bcast_scatter_recursive_doubling(const Arguments& a) {
    const double within = 2 * (a.power_rounds() * a.alpha + (a.power() - 1) / a.power() * a.n * a.beta);
    return within + (a.is_power() ? 0 : a.message(a.n));
}

/// The ranks beyond the power of two give their message first and get the result last.
double allreduce_folded(const Arguments& a, double within) { return within + (a.is_power() ? 0 : 2 * a.message(a.n)); }

double allreduce_recursive_doubling(const Arguments& a) {
    return allreduce_folded(a, a.power_rounds() * a.message(a.n));
}
double allreduce_rabenseifner(const Arguments& a) {
    return allreduce_folded(a, 2 * (a.power_rounds() * a.alpha + (a.power() - 1) / a.power() * a.n * a.beta));
}
double allreduce_ring(const Arguments& a) { return 2 * (a.p - 1) * a.k * a.message(a.n / a.p / a.k); }

/// The last segment starts after the k-1 before it and passes p-1 links in each direction.
double allreduce_pipelined_chain(const Arguments& a) { return (2 * (a.p - 1) + a.k - 1) * a.message(a.n / a.k); }

/// Beyond a power of two: one block is given, all others are got; the power's ranks carry up to two blocks each.
double allgather_recursive_doubling(const Arguments& a) {
    if (a.is_power()) return doubling_blocks(a);
    double time = a.message(a.n) + a.message((a.p - 1) * a.n);
    const double outside = a.p - a.power();
    // The busiest message of each step carries the blocks of the ranks outside as well.
    for (double count = 1; count < a.power(); count *= 2) time += a.message((count + std::min(count, outside)) * a.n);
    return time;
}

double allgather_neighbor_exchange(const Arguments& a) {
    return a.ranks % 2 == 0 ? a.p / 2 * a.alpha + (a.p - 1) * a.n * a.beta : one_after_another(a);
}

/// The message of a digit carries the blocks whose distance has this digit at this place.
template <std::int64_t radix>
double alltoall_bruck(const Arguments& a) {
    double time = 0;
    for (std::int64_t unit = 1; unit < a.ranks; unit *= radix)
        for (std::int64_t digit = 1; digit < radix && digit * unit < a.ranks; ++digit) {
            const std::int64_t whole = a.ranks / (radix * unit) * unit, rest = a.ranks % (radix * unit);
            time +=
                a.message(static_cast<double>(whole + std::clamp<std::int64_t>(rest - digit * unit, 0, unit)) * a.n);
        }
    return time;
}

/// Beyond a power of two: all p blocks are given first, one is got last; in between p blocks are halved.
double reduce_scatter_recursive_halving(const Arguments& a) {
    const double within = a.power_rounds() * a.alpha + (a.power() - 1) / a.power() * a.p * a.n * a.beta;
    return within + (a.is_power() ? 0 : a.message(a.p * a.n) + a.message(a.n));
}

template <std::int64_t radix>
double barrier_dissemination(const Arguments& a) {
    return digit_turns(a.ranks, radix) * a.alpha;
}

/// On the largest even number of ranks; the last of an odd number sends p-1 blocks to all, and gets as many, meanwhile.
double butterfly(const Arguments& a) {
    const double even_rounds = std::bit_width(static_cast<std::uint32_t>(a.ranks - a.ranks % 2) - 1);
    return std::max(even_rounds * a.alpha, a.ranks % 2 * (a.p - 1) * a.alpha) + (a.p - 1) * a.n * a.beta;
}
double allreduce_swing(const Arguments& a) {
    const double ring = a.ranks - a.ranks % 2, rounds = std::bit_width(static_cast<std::uint32_t>(ring) - 1);
    const double last = a.ranks % 2 * ring * a.message(a.n / ring);
    return 2 * std::max(rounds * a.alpha + (ring - 1) / ring * a.n * a.beta, last);
}

struct Form {
    Collective collective;
    std::string_view algorithm;
    double (*time)(const Arguments&);
};

constexpr std::array forms{
    Form{Collective::bcast, "linear", one_after_another},
    Form{Collective::bcast, "binomial", binomial},
    Form{Collective::bcast, "binomial_in_turn", binomial_in_turn},
    Form{Collective::bcast, "knomial_4", knomial<4>},
    Form{Collective::bcast, "knomial_8", knomial<8>},
    Form{Collective::bcast, "bine", binomial},
    Form{Collective::bcast, "chain", one_after_another},
    Form{Collective::bcast, "pipelined_chain", pipelined_chain},
    Form{Collective::bcast, "binary_tree", split_tree<2>},
    Form{Collective::bcast, "ternary_tree", split_tree<3>},
    Form{Collective::bcast, "scatter_allgather", bcast_scatter_allgather},
    Form{Collective::bcast, "scatter_recursive_doubling", bcast_scatter_recursive_doubling},
    Form{Collective::reduce, "linear", one_after_another},
    Form{Collective::reduce, "binomial", binomial},
    Form{Collective::reduce, "knomial_4", knomial<4>},
    Form{Collective::reduce, "knomial_8", knomial<8>},
    Form{Collective::reduce, "bine", binomial},
    Form{Collective::reduce, "chain", one_after_another},
    Form{Collective::reduce, "pipelined_chain", pipelined_chain},
    Form{Collective::reduce, "binary_tree", split_tree<2>},
    Form{Collective::reduce, "ternary_tree", split_tree<3>},
    Form{Collective::allreduce, "recursive_doubling", allreduce_recursive_doubling},
    Form{Collective::allreduce, "ring", allreduce_ring},
    Form{Collective::allreduce, "uneven_ring", allreduce_ring},  // starts everywhere
    Form{Collective::allreduce, "rabenseifner", allreduce_rabenseifner},
    Form{Collective::allreduce, "swing", allreduce_swing},
    Form{Collective::allreduce, "pipelined_chain", allreduce_pipelined_chain},
    Form{Collective::allgather, "ring", ring},
    Form{Collective::allgather, "uneven_ring", ring},
    Form{Collective::allgather, "recursive_doubling", allgather_recursive_doubling},
    Form{Collective::allgather, "bruck", doubling_blocks},
    Form{Collective::allgather, "bruck_4", allgather_bruck_4},
    Form{Collective::allgather, "bine", butterfly},
    Form{Collective::allgather, "neighbor_exchange", allgather_neighbor_exchange},
    Form{Collective::alltoall, "linear", one_after_another},
    Form{Collective::alltoall, "pairwise", one_after_another},
    Form{Collective::alltoall, "bruck", alltoall_bruck<2>},
    Form{Collective::alltoall, "bruck_4", alltoall_bruck<4>},
    Form{Collective::alltoall, "node_aware", one_after_another},  // each rank a node
    Form{Collective::alltoall, "by_dimension", one_after_another},
    Form{Collective::reduce_scatter_block, "ring", ring},
    Form{Collective::reduce_scatter_block, "recursive_halving", reduce_scatter_recursive_halving},
    Form{Collective::reduce_scatter_block, "bine", butterfly},
    Form{Collective::scatter, "linear", one_after_another},
    Form{Collective::scatter, "binomial", doubling_blocks},
    Form{Collective::scatter, "binomial_in_turn", scatter_in_turn},
    Form{Collective::scatter, "bine", doubling_blocks},
    Form{Collective::gather, "linear", one_after_another},
    Form{Collective::gather, "binomial", doubling_blocks},
    Form{Collective::gather, "bine", doubling_blocks},
    Form{Collective::barrier, "dissemination", barrier_dissemination<2>},
    Form{Collective::barrier, "dissemination_4", barrier_dissemination<4>},
};

}  // namespace

double hockney_s(Collective collective, std::string_view algorithm, std::int32_t num_ranks, std::int64_t bytes,
                 double latency_s, double bandwidth_bytes_per_s, std::int32_t segments) {
    require_at_least_1(num_ranks, "number of ranks");
    require(bytes >= 0, "bytes", std::to_string(bytes), "at least 0");
    require_time(latency_s, "latency");
    require_bandwidth(bandwidth_bytes_per_s);
    require_at_least_1(segments, "segments");
    std::vector<std::string_view> known;
    for (const Form& form : forms) {
        if (form.collective != collective) continue;
        known.push_back(form.algorithm);
        if (form.algorithm != algorithm) continue;
        if (num_ranks == 1) return 0;
        return form.time({latency_s, 1 / bandwidth_bytes_per_s, num_ranks, static_cast<double>(num_ranks),
                          static_cast<double>(bytes), static_cast<double>(segments)});
    }
    const std::string suggestion = base::did_you_mean(algorithm, known);
    throw InvalidInput("no closed form for the algorithm " + base::quoted(algorithm) + " of " +
                           std::string(name_of(collective)) + "; accepted: " + base::list_of(known),
                       suggestion);
}

}  // namespace hocket::cost
