// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "hocket/base/error.hpp"
#include "hocket/search/broadcast.hpp"
#include "hocket/search/paper_search.hpp"
#include "hocket/search/tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::search;

namespace {

using Integers = std::vector<std::int32_t>;
using CableTuple = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;
using TransferTuple = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t>;
using Progress = std::function<nb::object(std::optional<std::int64_t>, std::int64_t, std::int64_t, double)>;

void check(bool is_right, const std::string& what, const char* hint) {
    if (!is_right) throw InvalidInput(what, hint);
}

/// Numbers 0 .. end - 1, none twice.
void check_numbers(const Integers& numbers, std::int32_t end, const std::string& what) {
    std::vector<bool> seen(static_cast<std::size_t>(end));
    for (const std::int32_t number : numbers) {
        check(number >= 0 && number < end, what + " has " + std::to_string(number), "numbers go from 0 up");
        check(!seen[static_cast<std::size_t>(number)], what + " has " + std::to_string(number) + " twice",
              "name each once");
        seen[static_cast<std::size_t>(number)] = true;
    }
}

Tree make_tree(std::int32_t num_nodes, const Integers& computers, const std::vector<CableTuple>& tuples,
               std::int64_t bytes) {
    check(num_nodes > 0 && bytes > 0 && !computers.empty(), "a tree without nodes, computers or bytes", "one at least");
    check_numbers(computers, num_nodes, "computers");
    check(tuples.size() + 1 == static_cast<std::size_t>(num_nodes),
          std::to_string(tuples.size()) + " cables between " + std::to_string(num_nodes) + " nodes",
          "a tree has one cable less than nodes");
    std::vector<Cable> cables;
    Integers joined(static_cast<std::size_t>(num_nodes));
    std::iota(joined.begin(), joined.end(), 0);
    const auto top = [&](std::int32_t v) {
        while (joined[static_cast<std::size_t>(v)] != v) v = joined[static_cast<std::size_t>(v)];
        return v;
    };
    for (const auto& [a, b, bandwidth, bandwidth_back, delay, delay_back, half_duplex] : tuples) {
        const std::string name = "cable " + std::to_string(cables.size());
        check(a >= 0 && a < num_nodes && b >= 0 && b < num_nodes, name + " ends at no node", "nodes are 0, 1, ...");
        check(top(a) != top(b), name + " closes a cycle", "a tree has none");
        joined[static_cast<std::size_t>(top(a))] = top(b);
        check(bandwidth > 0 && bandwidth_back > 0 && delay >= 0 && delay_back >= 0,
              name + " has a bandwidth or a delay out of range", "bandwidths are positive, delays not negative");
        check(!half_duplex || bandwidth == bandwidth_back, name + " is half duplex with two bandwidths",
              "give the same");
        cables.push_back({a, b, {bandwidth, bandwidth_back}, {delay, delay_back}, half_duplex});
    }
    return {num_nodes, computers, cables, bytes};
}

void check_holders(const Tree& tree, const Integers& holders) {
    check(!holders.empty(), "nobody has the message", "name a holder");
    check_numbers(holders, tree.num_computers(), "holders");
}

std::function<bool(const BroadcastProgress&)> progress_of(const std::optional<Progress>& function) {
    if (!function) return {};
    return [&function](const BroadcastProgress& at) {
        const nb::gil_scoped_acquire acquire;
        return bindings::wants_to_go_on(
            (*function)(at.makespan_ns < never ? std::optional(at.makespan_ns) : std::nullopt, at.lower_bound_ns,
                        at.num_nodes, at.seconds));
    };
}

}  // namespace

void bind_search(nb::module_& module) {
    nb::class_<Tree>(module, "Tree", "A tree network and the bytes of a message. Immutable.")
        .def(
            "__init__",
            [](Tree* self, std::int32_t num_nodes, const Integers& computers, const std::vector<CableTuple>& cables,
               std::int64_t bytes) { new (self) Tree(make_tree(num_nodes, computers, cables, bytes)); },
            "num_nodes"_a, "computers"_a, "cables"_a, "bytes"_a,
            "`computers[i]` is the node of computer i. A cable is (a, b, bandwidth a to b and b to a in bytes/s, delay "
            "in "
            "each direction in ns, half duplex).")
        .def_prop_ro("num_computers", &Tree::num_computers)
        .def("duration_ns", &Tree::duration_ns, "source"_a, "target"_a,
             "How long a transfer's bytes pass: the message over the least bandwidth of the path.")
        .def("path_delay_ns", &Tree::path_delay_ns, "source"_a, "target"_a);
    nb::class_<BroadcastResult>(module, "BroadcastResult", "A broadcast, and what is proven of it.")
        .def_prop_ro(
            "transfers",
            [](const BroadcastResult& self) {
                std::vector<TransferTuple> found;
                for (const Transfer& t : self.transfers) found.emplace_back(t.source, t.target, t.start_ns, t.end_ns);
                return found;
            },
            "(source, target, start_ns, end_ns) in the order of their starts.")
        .def_ro("makespan_ns", &BroadcastResult::makespan_ns)
        .def_ro("lower_bound_ns", &BroadcastResult::lower_bound_ns,
                "With delays: of broadcasts that start each transfer, in the order of starts, as early as possible.")
        .def_ro("lower_bound_any_starts_ns", &BroadcastResult::lower_bound_any_starts_ns, "Of all broadcasts.")
        .def_ro("num_nodes", &BroadcastResult::num_nodes, "Of the search tree that were branched on.")
        .def_ro("search_s", &BroadcastResult::search_s)
        .def_ro("optimal", &BroadcastResult::optimal)
        .def_prop_ro("gap", &BroadcastResult::gap, "(makespan - lower bound) / lower bound");
    module.def(
        "fastest_broadcast",
        [](const Tree& tree, const Integers& holders, double time_limit_s, double gap, std::int32_t threads,
           std::int64_t max_nodes, std::int64_t memory_limit_bytes, std::int32_t beam_width,
           const std::optional<Progress>& on_progress) {
            check_holders(tree, holders);
            BroadcastOptions options;
            options.time_limit_s = time_limit_s;
            options.gap = gap;
            options.num_threads = threads;
            options.max_nodes = max_nodes;
            options.memory_limit_bytes = memory_limit_bytes;
            options.beam_width = beam_width;
            options.on_progress = progress_of(on_progress);
            const nb::gil_scoped_release release;
            return fastest_broadcast(tree, holders, options);
        },
        "tree"_a, "holders"_a, "time_limit_s"_a = BroadcastOptions().time_limit_s, "gap"_a = 0.0, "threads"_a = 1,
        "max_nodes"_a = BroadcastOptions().max_nodes, "memory_limit_bytes"_a = BroadcastOptions().memory_limit_bytes,
        "beam_width"_a = BroadcastOptions().beam_width, "on_progress"_a = nb::none(),
        "The fastest broadcast from the holders, by branch and bound; stops when proven within `gap` of the optimum. "
        "`on_progress(makespan_ns or None, lower_bound_ns, num_nodes, seconds)` is called about every tenth of a "
        "second; "
        "where it returns a false value other than None, the search ends with what is known by then.");
    module.def(
        "paper_broadcast",
        [](const Tree& tree, const Integers& holders, const std::string& cuts, double time_limit_s,
           const std::optional<Progress>& on_progress) {
            check_holders(tree, holders);
            PaperOptions options;
            if (cuts == "none")
                options.cuts = PaperCuts::none;
            else if (cuts == "sender")
                options.cuts = PaperCuts::sender;
            else if (cuts == "receiver")
                options.cuts = PaperCuts::receiver;
            else
                check(cuts == "both", "cuts: \"" + cuts + "\"", "one of none, sender, receiver, both");
            options.time_limit_s = time_limit_s;
            options.on_progress = progress_of(on_progress);
            const nb::gil_scoped_release release;
            return paper_broadcast(tree, holders, options);
        },
        "tree"_a, "holders"_a, "cuts"_a = "both", "time_limit_s"_a = PaperOptions().time_limit_s,
        "on_progress"_a = nb::none(), "The search of [Hourai] as published, to compare with.");
    module.def(
        "faults_of",
        [](const Tree& tree, const Integers& holders, const std::vector<TransferTuple>& tuples) {
            check_holders(tree, holders);
            std::vector<Transfer> transfers;
            for (const auto& [source, target, start, end] : tuples) {
                check(std::min(source, target) >= 0 && std::max(source, target) < tree.num_computers() &&
                          source != target,
                      "a transfer from " + std::to_string(source) + " to " + std::to_string(target),
                      "between two computers of the tree");
                transfers.push_back({source, target, start, end});
            }
            return faults_of(tree, holders, transfers);
        },
        "tree"_a, "holders"_a, "transfers"_a, "What is wrong with a broadcast, or \"\".");
}
