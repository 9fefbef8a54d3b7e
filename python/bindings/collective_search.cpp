// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "hocket/base/error.hpp"
#include "hocket/network/depth_first.hpp"
#include "hocket/network/slow_links.hpp"
#include "hocket/search/orders.hpp"
#include "hocket/search/phases.hpp"
#include "hocket/search/rank_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

using Ranks = std::vector<std::int32_t>;

std::vector<Rank> ranks_from(const Ranks& values) {
    std::vector<Rank> ranks;
    ranks.reserve(values.size());
    for (const std::int32_t value : values) ranks.emplace_back(value);
    return ranks;
}

Ranks values_of(const std::vector<Rank>& ranks) {
    Ranks values;
    values.reserve(ranks.size());
    for (const Rank rank : ranks) values.push_back(rank.value);
    return values;
}

network::Branch branch_from(std::string_view name) {
    using network::Branch;
    if (name == "listed") return Branch::listed;
    if (name == "fastest_first") return Branch::fastest_first;
    if (name == "slowest_first") return Branch::slowest_first;
    if (name == "deepest_last") return Branch::deepest_last;
    throw InvalidInput("unknown branch order \"" + std::string(name) + "\"",
                       "accepted: listed, fastest_first, slowest_first, deepest_last");
}

std::vector<std::vector<Rank>> orders_from(const std::vector<Ranks>& values) {
    std::vector<std::vector<Rank>> orders;
    for (const Ranks& order : values) orders.push_back(ranks_from(order));
    return orders;
}

Schedule tree_bcast(const Ranks& order, std::int32_t fanout, std::int32_t segments) {
    const std::vector<Rank> ranks = ranks_from(order);
    if (ranks.empty()) throw InvalidInput("order is empty");
    return search::bcast_down(search::split_tree(ranks, fanout), ranks.front(), segments);
}

std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> alltoall_phases(const Network& network,
                                                                                const Ranks& members) {
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> result;
    for (const auto& phase : search::contention_free_phases(network, ranks_from(members))) {
        auto& messages = result.emplace_back();
        for (const auto& [source, target] : phase) messages.emplace_back(source.value, target.value);
    }
    return result;
}

Schedule phased_alltoall(const Network& network, const Ranks& members) {
    const auto phases = search::contention_free_phases(network, ranks_from(members));
    return search::alltoall_in_phases(static_cast<std::int32_t>(members.size()), phases);
}

}  // namespace

void bind_collective_search(nb::module_& module) {
    using search::Congestion, search::FoundOrder;
    using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

    nb::class_<Congestion>(module, "Congestion", "How the messages between neighbours in an order share the network.")
        .def_ro("most_flows", &Congestion::most_flows, "On a directed link or half-duplex cable.")
        .def_ro("busiest_s_per_byte", &Congestion::busiest_s_per_byte, "Largest sum of flows / bandwidth.")
        .def_ro("longest_latency_s", &Congestion::longest_latency_s)
        .def_ro("total_latency_s", &Congestion::total_latency_s)
        .def("__repr__",
             [](const Congestion& c) { return "Congestion(most_flows=" + std::to_string(c.most_flows) + ")"; });
    nb::class_<FoundOrder>(module, "FoundOrder", "What improve_order found.")
        .def_prop_ro("order", [](const FoundOrder& f) { return values_of(f.order); })
        .def_ro("congestion", &FoundOrder::congestion)
        .def_ro("num_moves", &FoundOrder::num_moves);
    module.def(
        "congestion",
        [](const Network& network, const Ranks& members, const Ranks& order, std::string_view walk,
           const std::vector<Ranks>& others) {
            return search::congestion_of(network, ranks_from(members), ranks_from(order), search::walk_from(walk),
                                         orders_from(others));
        },
        "network"_a, "members"_a, "order"_a, "walk"_a, "others"_a = std::vector<Ranks>{}, ReleaseGil(),
        "Of all messages between neighbours of `order`, positions in `members`. `walk`: ring, chain, or backward, a "
        "chain whose messages go to the rank before. `others`: orders that are walked at the same time.");
    module.def(
        "depth_first_order",
        [](const Network& network, const Ranks& members, std::int32_t start, std::string_view branch) {
            return values_of(
                network::depth_first_order(network, ranks_from(members), Rank{start}, branch_from(branch)));
        },
        "network"_a, "members"_a, "start"_a = 0, "branch"_a = "listed", ReleaseGil(),
        "Positions in `members` in the order of a depth-first walk from `start`; on a tree a ring in it crosses each "
        "directed link at most once. `branch`: listed, fastest_first, slowest_first or deepest_last.");
    module.def(
        "improve_order",
        [](const Network& network, const Ranks& members, const Ranks& order, std::string_view walk, std::uint64_t seed,
           std::int64_t max_moves, const std::vector<Ranks>& others) {
            return search::improve_order(network, ranks_from(members), ranks_from(order), search::walk_from(walk),
                                         {seed, max_moves}, orders_from(others));
        },
        "network"_a, "members"_a, "order"_a, "walk"_a, "seed"_a = 1, "max_moves"_a = 50'000,
        "others"_a = std::vector<Ranks>{}, ReleaseGil(),
        "An order of less congestion that begins with the same rank, by local search.");
    const auto positions_by = [](auto find) {
        return [find](const Network& network, const Ranks& members, const Ranks& order) {
            return find(network, ranks_from(members), ranks_from(order));
        };
    };
    module.def(
        "behind_slow_links", positions_by(network::behind_slow_links), "network"_a, "members"_a, "order"_a,
        ReleaseGil(),
        "Positions in `order` whose message from the rank before takes as long per byte as the slowest; none where "
        "that is a single one, or all.");
    module.def(
        "behind_longer_routes", positions_by(network::behind_longer_routes), "network"_a, "members"_a, "order"_a,
        ReleaseGil(),
        "Positions in `order` whose message from the rank before passes more links than the fewest of such messages; "
        "none where that is a single one.");
    module.def(
        "one_send_at_a_time", &search::one_send_at_a_time, "schedule"_a, ReleaseGil(),
        "The same bcast or scatter, but each send of a rank begins when the receiver of the one before has answered.");
    module.def(
        "merged_schedule", [](const std::vector<Schedule>& schedules) { return search::merged(schedules); },
        "schedules"_a, ReleaseGil(),
        "Several chains or rings of one collective at once, each for its share of the segments.");
    module.def(
        "tree_bcast", &tree_bcast, "order"_a, "fanout"_a, "segments"_a, ReleaseGil(),
        "Pipelined broadcast from the first of `order` down the tree that cuts the rest into `fanout` nearly equal "
        "stretches, and so on.");
    module.def("reversed_schedule", &search::reversed, "schedule"_a, ReleaseGil(),
               "A bcast backwards in time is a reduce, a scatter a gather.");
    module.def(
        "alltoall_phases", &alltoall_phases, "network"_a, "members"_a, ReleaseGil(),
        "The messages of an all-to-all in the fewest phases in which no directed link of the tree is used twice.");
    module.def("phased_alltoall", &phased_alltoall, "network"_a, "members"_a, ReleaseGil(),
               "The all-to-all of these phases, as a Schedule.");
}
