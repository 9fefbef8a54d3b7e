// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/search/broadcast.hpp"
#include "hocket/search/network_tree.hpp"
#include "hocket/search/transfers.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::search;

void bind_search(nb::module_& module) {
    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();

    nb::class_<Transfer>(module, "Transfer",
                         "One message from rank to rank, from its first byte sent to its last byte received.")
        .def(
            "__init__",
            [](Transfer* self, std::int32_t source, std::int32_t target, std::int64_t start_ns, std::int64_t end_ns) {
                new (self) Transfer{source, target, start_ns, end_ns};
            },
            "source"_a, "target"_a, "start_ns"_a, "end_ns"_a)
        .def_ro("source", &Transfer::source)
        .def_ro("target", &Transfer::target)
        .def_ro("start_ns", &Transfer::start_ns)
        .def_ro("end_ns", &Transfer::end_ns)
        .def("__repr__", [](const Transfer& t) {
            return "Transfer(" + std::to_string(t.source) + ", " + std::to_string(t.target) + ", " +
                   std::to_string(t.start_ns) + ", " + std::to_string(t.end_ns) + ")";
        });

    nb::class_<Tree>(module, "Tree", "A network that is a tree, and a message, in whole bytes/s and ns.")
        .def_static(
            "of",
            [](const Network& network, std::int64_t bytes, const std::vector<std::int32_t>& members) {
                const std::vector<Rank> ranks(members.begin(), members.end());
                return tree_of(network, bytes, ranks);
            },
            "network"_a, "bytes"_a, "members"_a = std::vector<std::int32_t>{}, unlocked,
            "Computer i is network rank members[i]; all ranks if none are given.")
        .def(
            "reversed", [](const Tree& tree) { return reversed(tree); }, "The directions of all links exchanged.")
        .def_prop_ro("num_computers", &Tree::num_computers)
        .def_prop_ro("has_delays", &Tree::has_delays);

    nb::class_<BroadcastResult>(module, "BroadcastResult", "What a search for the fastest broadcast found.")
        .def_ro("transfers", &BroadcastResult::transfers, "In the order of their starts.")
        .def_ro("makespan_ns", &BroadcastResult::makespan_ns)
        .def_ro("lower_bound_ns", &BroadcastResult::lower_bound_ns)
        .def_ro("num_nodes", &BroadcastResult::num_nodes)
        .def_ro("search_s", &BroadcastResult::search_s)
        .def_ro("optimal", &BroadcastResult::optimal);

    module.def(
        "fastest_broadcast",
        [](const Tree& tree, const std::vector<std::int32_t>& holders, double time_limit_s, double gap) {
            return fastest_broadcast(tree, holders, {.time_limit_s = time_limit_s, .gap = gap});
        },
        "tree"_a, "holders"_a, "time_limit_s"_a = 60.0, "gap"_a = 0.0, unlocked);
    module.def(
        "faults_of",
        [](const Tree& tree, const std::vector<std::int32_t>& holders, const std::vector<Transfer>& transfers) {
            return faults_of(tree, holders, transfers);
        },
        "tree"_a, "holders"_a, "transfers"_a, "What is wrong with a broadcast; empty if nothing is.");
    module.def(
        "reversed_transfers", [](const std::vector<Transfer>& transfers) { return reversed(transfers); }, "transfers"_a,
        "A broadcast as the reduction that is its mirror image in time.");
    module.def(
        "bcast_of",
        [](const Tree& tree, std::int32_t root, const std::vector<Transfer>& transfers) {
            return bcast_of(tree, root, transfers);
        },
        "tree"_a, "root"_a, "transfers"_a, "As a Schedule.");
    module.def(
        "reduce_of",
        [](const Tree& tree, std::int32_t root, const std::vector<Transfer>& broadcast) {
            return reduce_of(tree, root, broadcast);
        },
        "tree"_a, "root"_a, "broadcast"_a, "A broadcast on tree.reversed(), run backwards, as a Schedule.");
    module.def(
        "timed_program_of",
        [](const Tree& tree, const std::vector<Transfer>& transfers) { return timed_program_of(tree, transfers); },
        "tree"_a, "transfers"_a, "As a Program that starts each transfer at its instant.");
}
