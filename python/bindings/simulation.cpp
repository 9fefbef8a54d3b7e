// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/simulate.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "circuit_dict.hpp"
#include "hocket/base/error.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

/// Hosts of ranks.
std::vector<circuits::HostPair> hosts_of(const Network& network,
                                         const std::vector<std::pair<std::int32_t, std::int32_t>>& ranks) {
    std::vector<circuits::HostPair> pairs;
    for (const auto& [a, b] : ranks) {
        for (const std::int32_t rank : {a, b})
            if (rank < 0 || rank >= network.num_ranks())
                throw InvalidInput("pinned: rank " + std::to_string(rank) + " is not in 0.." +
                                   std::to_string(network.num_ranks() - 1));
        const circuits::HostPair pair = circuits::pair_of(network.host_of(Rank{a}), network.host_of(Rank{b}));
        if (pair.first != pair.second && std::find(pairs.begin(), pairs.end(), pair) == pairs.end())
            pairs.push_back(pair);
    }
    return pairs;
}

std::variant<Timeline, circuits::CircuitTimeline> run(
    const Program& program, const Network& network, const std::optional<CostModel>& costs,
    const std::optional<std::string_view>& sharing, bool ordered_pairs, bool record_links, bool reference,
    std::int32_t link_bins, const std::optional<bindings::LinkRows>& link_rows,
    const std::optional<bindings::PythonProgress>& on_progress, const std::optional<std::string_view>& circuit_policy,
    const std::vector<std::pair<std::int32_t, std::int32_t>>& pinned, const std::vector<double>& start_s) {
    for (const double start : start_s)
        if (!(start >= 0) || !std::isfinite(start)) throw InvalidInput("a start is not finite and at least 0");
    std::optional<circuits::Policy> policy;
    if (circuit_policy)
        policy = bindings::value_from<circuits::Policy>("circuit_policy", *circuit_policy, circuits::policy_names);
    if (!pinned.empty() && policy != circuits::Policy::pinned)
        throw InvalidInput("pinned goes with the circuit policy \"pinned\"", "leave it out");
    CostParameters parameters = *costs.value_or(CostModel{});
    if (sharing) parameters.sharing = sharing_from(*sharing);
    const SimulationOptions options{.costs = parameters,
                                    .ordered_pairs = ordered_pairs,
                                    .record_links = record_links,
                                    .reference = reference,
                                    .link_bins = bindings::link_bin_options(link_bins, link_rows),
                                    .start_s = start_s,
                                    .on_progress = bindings::on_progress(on_progress)};
    const nb::gil_scoped_release release;
    if (policy) return circuits::simulate(program, network, *policy, options, hosts_of(network, pinned));
    return simulate(program, network, options);
}

using bindings::Matrix, bindings::Vector;

/// Views into the Timeline `self`, which they keep alive.
Vector view(nb::handle self, const double* data, std::size_t size, std::int64_t stride) {
    return Vector(data, {size}, self, {stride});
}

template <class Part>
const Part& part_of(const std::vector<Part>& parts, std::int64_t index, const char* what) {
    if (index < 0 || static_cast<std::size_t>(index) >= parts.size())
        throw InvalidInput(std::string(what) + " is " + std::to_string(index) + ": expected 0 to " +
                           std::to_string(static_cast<std::int64_t>(parts.size()) - 1));
    return parts[static_cast<std::size_t>(index)];
}

Vector times_of(nb::handle self, std::int64_t rank, double Timeline::Interval::* which) {
    static_assert(sizeof(Timeline::Interval) == 2 * sizeof(double));
    const auto& intervals = part_of(nb::cast<const Timeline&>(self).ranks, rank, "rank");
    return view(self, intervals.empty() ? nullptr : &(intervals.front().*which), intervals.size(), 2);
}

template <class Row>
const std::vector<Row>& recorded_of(const std::vector<std::vector<Row>>& links, const Timeline& timeline,
                                    std::int64_t link) {
    if (links.empty() && !timeline.link_bytes.empty())
        throw InvalidInput("the use of links was not recorded", "simulate with record_links=True");
    return part_of(links, link, "link");
}

Matrix link_use(nb::handle self, std::int64_t link) {
    static_assert(sizeof(Timeline::LinkUse) == 3 * sizeof(double));
    const auto& timeline = nb::cast<const Timeline&>(self);
    const auto& use = recorded_of(timeline.link_use, timeline, link);
    return Matrix(use.empty() ? nullptr : &use.front().start_s, {use.size(), 3}, self);
}

Matrix link_bursts(nb::handle self, std::int64_t link) {
    static_assert(sizeof(Timeline::LinkBurst) == 2 * sizeof(double));
    const auto& timeline = nb::cast<const Timeline&>(self);
    const auto& bursts = recorded_of(timeline.link_bursts, timeline, link);
    return Matrix(bursts.empty() ? nullptr : &bursts.front().time_s, {bursts.size(), 2}, self);
}

}  // namespace

void bind_simulation(nb::module_& module) {
    nb::class_<Timeline>(module, "Timeline", "The result of simulating a Program on a Network. Times are in seconds.")
        .def_ro("makespan_s", &Timeline::makespan_s)
        .def_ro("completed", &Timeline::completed,
                "False if on_progress stopped it: NaN are the times of what had not ended then.")
        .def_prop_ro("num_ranks", [](const Timeline& t) { return t.ranks.size(); })
        .def_ro("num_events", &Timeline::num_events,
                "Completed messages, also those of handshakes, computations and reductions.")
        .def_prop_ro(
            "finish_s",
            [](nb::handle self) {
                const auto& finish = nb::cast<const Timeline&>(self).finish_s;
                return view(self, finish.data(), finish.size(), 1);
            },
            "End of the last op of each rank.")
        .def(
            "start_s",
            [](nb::handle self, std::int64_t rank) { return times_of(self, rank, &Timeline::Interval::start_s); },
            "rank"_a, "Start of each op of a rank.")
        .def(
            "end_s",
            [](nb::handle self, std::int64_t rank) { return times_of(self, rank, &Timeline::Interval::end_s); },
            "rank"_a, "End of each op of a rank.")
        .def_prop_ro(
            "link_bytes",
            [](nb::handle self) {
                const auto& bytes = nb::cast<const Timeline&>(self).link_bytes;
                return view(self, bytes.data(), bytes.size(), 1);
            },
            "Bytes that crossed each link.")
        .def("link_use", &link_use, "link"_a,
             "Rows (start_s, end_s, rate_bytes_per_s) of the link, without idle times; needs record_links=True.")
        .def(
            "link_bursts", &link_bursts, "link"_a,
            "Rows (time_s, bytes) of what passed the link in one moment, beside link_use: out of buckets, or on routes "
            "without a limit; needs record_links=True.")
        .def_prop_ro(
            "link_bins",
            [](nb::handle self) { return bindings::view(self, nb::cast<const Timeline&>(self).link_bins); },
            "Bytes that passed each link (or row of links) in each bin of time; needs link_bins > 0.")
        .def_prop_ro(
            "bin_s", [](const Timeline& t) { return t.link_bins.bin_s; }, "Width of a bin.")
        .def("__repr__", [](const Timeline& t) {
            return "Timeline(makespan_s=" + std::to_string(t.makespan_s) +
                   ", num_events=" + std::to_string(t.num_events) + ")";
        });

    nb::class_<circuits::CircuitTimeline, Timeline>(module, "CircuitTimeline",
                                                    "The result of simulating a Program on a network with circuits.")
        .def_prop_ro(
            "num_circuits", [](const circuits::CircuitTimeline& t) { return t.circuits.size(); },
            "Circuits that were set up.")
        .def_ro("num_messages", &circuits::CircuitTimeline::num_messages, "Messages that went over circuits.")
        .def_prop_ro(
            "hops",
            [](const circuits::CircuitTimeline& t) {
                nb::list hops;
                for (const circuits::Hop& hop : t.hops) {
                    nb::dict one;
                    one["rank"] = hop.source.value;
                    one["op"] = hop.send;
                    one["nodes"] = nb::make_tuple(hop.from.value, hop.to.value);
                    one["time_s"] = nb::make_tuple(hop.ready_s, hop.begin_s, hop.end_s);
                    hops.append(one);
                }
                return hops;
            },
            nb::sig("def hops(self) -> list[dict[str, Any]]"),
            "Of messages that took several circuits: the `op` of a `rank` that sent it, the `nodes` that a circuit "
            "joins, and when it was stored at the first of them, left it, and was stored at the second.")
        .def_ro("waiting_s", &circuits::CircuitTimeline::waiting_s,
                "How long these waited from when they were ready to when they began, all together.")
        .def_ro("circuits_end_s", &circuits::CircuitTimeline::end_s, "Of the program and of the last teardown.")
        .def_prop_ro(
            "circuits",
            [](const circuits::CircuitTimeline& t) {
                nb::list list;
                for (const circuits::Circuit& circuit : t.circuits) list.append(bindings::to_dict(circuit));
                return list;
            },
            nb::sig("def circuits(self) -> list[dict[str, Any]]"),
            "In the order in which they were set up, as in the answers of circuit_schedule, with `ports` and "
            "`wavelength`.");

    module.def(
        "simulate", &run, "program"_a, "network"_a, "costs"_a = nb::none(), nb::kw_only(), "sharing"_a = nb::none(),
        "ordered_pairs"_a = true, "record_links"_a = false, "reference"_a = false, "link_bins"_a = 0,
        "link_rows"_a = nb::none(), "on_progress"_a = nb::none(), "circuit_policy"_a = nb::none(),
        "pinned"_a = std::vector<std::pair<std::int32_t, std::int32_t>>{}, "start_s"_a = std::vector<double>{},
        "Runs a Program on a Network. `costs` are those of messages; None = CostModel(), all is free. `sharing` "
        "replaces "
        "theirs. With `ordered_pairs` the messages from one rank to another travel one after another. `reference` "
        "computes all rates anew at each change. `link_bins`, `link_rows` and `on_progress` as in simulate_traffic. "
        "`circuit_policy`, of a network with circuits, is \"naive\", \"batch\", \"lazy\", \"pinned\" or "
        "\"program\", and the result a CircuitTimeline; `pinned` are pairs of ranks whose hosts have a circuit from "
        "start to end. `start_s` is when each rank begins.");
}
