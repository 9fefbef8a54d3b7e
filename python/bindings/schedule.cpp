// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/schedule/schedule.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "hocket/base/error.hpp"
#include "hocket/collectives/algorithm.hpp"
#include "hocket/schedule/validate.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

/// An Op with its chunks and dependencies, which the core keeps in arrays of the rank.
struct PythonOp {
    std::string kind;
    std::int32_t peer;
    std::vector<std::pair<std::int32_t, std::int32_t>> chunks;
    std::vector<std::int32_t> after;
};

std::vector<PythonOp> ops_of(const Schedule& schedule, std::int32_t rank) {
    if (rank < 0 || rank >= schedule.num_ranks)
        throw InvalidInput("rank is " + std::to_string(rank) + ": expected 0 to " +
                           std::to_string(schedule.num_ranks - 1));
    const RankSchedule& part = schedule.ranks[static_cast<std::size_t>(rank)];
    std::vector<PythonOp> ops;
    ops.reserve(part.ops.size());
    for (const Op& op : part.ops) {
        PythonOp& out = ops.emplace_back(PythonOp{std::string(name_of(op.kind)), op.peer.value, {}, {}});
        for (const ChunkRange& range : part.chunks_of(op)) out.chunks.emplace_back(range.first, range.count);
        const auto after = part.dependencies_of(op);
        out.after.assign(after.begin(), after.end());
    }
    return ops;
}

using Starts = std::vector<std::int32_t>;

Schedule build(std::string_view collective, std::string_view algorithm, std::int32_t num_ranks, std::int32_t root,
               std::int32_t segments, const std::optional<std::vector<std::int32_t>>& order, const Starts& starts,
               std::optional<std::int32_t> pieces) {
    std::vector<Rank> ranks;
    if (order) {
        for (const std::int32_t r : *order) ranks.emplace_back(r);
        if (ranks.empty()) throw InvalidInput("order is empty", "leave it out for 0 .. p-1");
    }
    const collectives::Algorithm& found = collectives::find_algorithm(collective_from(collective), algorithm);
    return collectives::emit(found, {num_ranks, pieces.value_or(segments), starts}, {Rank{root}, ranks});
}

std::vector<collectives::Algorithm> list_algorithms() {
    const auto all = collectives::all_algorithms();
    return {all.begin(), all.end()};
}

}  // namespace

void bind_schedule(nb::module_& module) {
    using collectives::Algorithm;
    nb::class_<Algorithm>(module, "Algorithm", "A textbook algorithm for a collective operation.")
        .def_prop_ro("collective", [](const Algorithm& a) { return name_of(a.collective); })
        .def_prop_ro(
            "name", [](const Algorithm& a) { return a.name; }, "As in the literature.")
        .def_prop_ro(
            "source", [](const Algorithm& a) { return a.source; }, "Key in docs/literature.bib.")
        .def_prop_ro(
            "pipelines", [](const Algorithm& a) { return a.pipelines; }, "More than one segment makes sense.")
        .def_prop_ro(
            "preserves_order", [](const Algorithm& a) { return a.preserves_order; },
            "With root 0 and no order given it combines in rank order.")
        .def_prop_ro(
            "has_starts", [](const Algorithm& a) { return a.has_starts; },
            "`starts`, positions in the order, say where a stretch of ranks begins behind a slow link.")
        .def(
            "segments_for",
            [](const Algorithm& a, std::int32_t num_ranks, std::int32_t segments, const Starts& starts) {
                return collectives::segments_for(a, {num_ranks, segments, starts});
            },
            "num_ranks"_a, "segments"_a = 1, "starts"_a = Starts{},
            "Schedule.segments for this request: blocks that the algorithm cuts, times segments.")
        .def(
            "segments_of_size",
            [](const Algorithm& a, std::int32_t num_ranks, std::int64_t size_bytes, std::int64_t segment_bytes,
               const Starts& starts) {
                return collectives::segments_of_size(a, {num_ranks, 1, starts}, size_bytes, segment_bytes);
            },
            "num_ranks"_a, "size_bytes"_a, "segment_bytes"_a, "starts"_a = Starts{},
            "The segments to ask for so that no segment of a message of size_bytes has more than segment_bytes: three "
            "significant binary digits, rounded up; 1 if the algorithm does not pipeline.")
        .def("__repr__", [](const Algorithm& a) {
            return "Algorithm(" + std::string(name_of(a.collective)) + ", " + std::string(a.name) + ")";
        });
    module.def("algorithms", &list_algorithms, "Every algorithm, grouped by collective.");

    nb::class_<PythonOp>(module, "Op", "One operation of one rank of a Schedule.")
        .def_ro("kind", &PythonOp::kind, "send, recv, recv_reduce_left or recv_reduce_right")
        .def_ro("peer", &PythonOp::peer)
        .def_ro("chunks", &PythonOp::chunks, "Pairs (first, count).")
        .def_ro("after", &PythonOp::after, "Indices of the ops of this rank that it waits for.")
        .def("__repr__", [](const PythonOp& op) { return "Op(" + op.kind + ", " + std::to_string(op.peer) + ")"; });

    nb::class_<Schedule>(module, "Schedule", "A collective operation, symbolically: free of sizes, times and links.")
        .def_static(
            "build", &build, "collective"_a, "algorithm"_a, "num_ranks"_a, "root"_a = 0, "segments"_a = 1,
            "order"_a = nb::none(), "starts"_a = Starts{}, nb::kw_only(), "pieces"_a = nb::none(),
            nb::call_guard<nb::gil_scoped_release>(),
            "A named algorithm; `order` is a cyclic sequence of all ranks, rotated to begin at the root. `starts`, "
            "increasing positions in it, are for algorithms that have them; none: each. "
            "`pieces` is `segments` in earlier versions.")
        .def_static("from_json", &schedule_from_json, "text"_a, "source_name"_a = "schedule",
                    nb::call_guard<nb::gil_scoped_release>())
        .def("to_json", &to_json, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("collective", [](const Schedule& s) { return name_of(s.collective); })
        .def_ro("algorithm", &Schedule::algorithm)
        .def_ro("num_ranks", &Schedule::num_ranks)
        .def_prop_ro("root", [](const Schedule& s) { return s.root.value; })
        .def_ro("segments", &Schedule::segments, "Segments per block.")
        .def_ro("pieces", &Schedule::segments, "The name of `segments` in earlier versions.")
        .def_prop_ro("num_chunks", [](const Schedule& s) { return num_chunks(s.collective, s.num_ranks, s.segments); })
        .def("ops", &ops_of, "rank"_a)
        .def(
            "__eq__", [](const Schedule& a, const Schedule& b) { return a == b; }, nb::is_operator())
        .def("__repr__", [](const Schedule& s) {
            return "Schedule(" + std::string(name_of(s.collective)) + ", " + s.algorithm +
                   ", num_ranks=" + std::to_string(s.num_ranks) + ", segments=" + std::to_string(s.segments) + ")";
        });

    nb::class_<Validation>(module, "Validation", "What validate found.")
        .def_prop_ro("ok", &Validation::ok)
        .def_ro("violations", &Validation::violations)
        .def_ro("preserves_order", &Validation::preserves_order, "Serves operators that are not commutative.")
        .def("__bool__", &Validation::ok)
        .def("__repr__", [](const Validation& v) {
            return v.ok() ? std::string("Validation(ok)")
                          : "Validation(" + std::to_string(v.violations.size()) + " violations)";
        });
    module.def("validate", &validate, "schedule"_a, nb::call_guard<nb::gil_scoped_release>(),
               "Executes the schedule symbolically and lists everything that is wrong with it.");
}
