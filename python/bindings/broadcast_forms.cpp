// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "hocket/search/network_tree.hpp"
#include "hocket/search/transfers.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::search;

namespace {

/// (source, target, start_ns, end_ns), as BroadcastResult has them.
using TransferTuple = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t>;

std::vector<Transfer> transfers_of(const std::vector<TransferTuple>& tuples) {
    std::vector<Transfer> found;
    for (const auto& [source, target, start, end] : tuples) found.push_back({source, target, start, end});
    return found;
}

}  // namespace

void bind_broadcast_forms(nb::module_& module) {
    module.def(
        "tree_of",
        [](const Network& network, std::int64_t bytes, const std::vector<std::int32_t>& members) {
            const std::vector<Rank> ranks(members.begin(), members.end());
            const nb::gil_scoped_release release;
            return tree_of(network, bytes, ranks);
        },
        "network"_a, "bytes"_a, "members"_a = std::vector<std::int32_t>{},
        "The Tree of a network; computer i is network rank members[i]; all ranks if none are given.");
    module.def(
        "reversed_tree", [](const Tree& tree) { return reversed(tree); }, "tree"_a,
        "The directions of all links exchanged.");
    module.def(
        "reversed_transfers",
        [](const std::vector<TransferTuple>& transfers) {
            std::vector<TransferTuple> found;
            for (const Transfer& t : reversed(transfers_of(transfers)))
                found.emplace_back(t.source, t.target, t.start_ns, t.end_ns);
            return found;
        },
        "transfers"_a, "A broadcast as the reduction that is its mirror image in time.");
    module.def(
        "bcast_of",
        [](const Tree& tree, std::int32_t root, const std::vector<TransferTuple>& transfers, bool announces_ends) {
            return bcast_of(tree, root, transfers_of(transfers), announces_ends ? Order::kept : Order::free);
        },
        "tree"_a, "root"_a, "transfers"_a, "announces_ends"_a = true,
        "As a Schedule. `announces_ends`: who must wait for another transfer's end gets a message without "
        "chunks.");
    module.def(
        "reduce_of",
        [](const Tree& tree, std::int32_t root, const std::vector<TransferTuple>& broadcast, bool announces_ends) {
            return reduce_of(tree, root, transfers_of(broadcast), announces_ends ? Order::kept : Order::free);
        },
        "tree"_a, "root"_a, "broadcast"_a, "announces_ends"_a = true,
        "A broadcast on reversed_tree(tree), run backwards, as a Schedule.");
    module.def(
        "timed_program_of",
        [](const Tree& tree, const std::vector<TransferTuple>& transfers) {
            return timed_program_of(tree, transfers_of(transfers));
        },
        "tree"_a, "transfers"_a, "As a Program that starts each transfer at its instant.");
}
