// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/program/program.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "hocket/base/error.hpp"
#include "hocket/lowering/lower.hpp"
#include "hocket/program/goal.hpp"
#include "what_if.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

/// A ProgramOp with its dependencies, which the core keeps in an array of the rank.
struct PythonProgramOp {
    ProgramOp op;
    std::vector<std::int32_t> after;
};

std::vector<PythonProgramOp> ops_of(const Program& program, std::int32_t rank) {
    const auto num_ranks = static_cast<std::int32_t>(program.ranks.size());
    if (rank < 0 || rank >= num_ranks)
        throw InvalidInput("rank is " + std::to_string(rank) + ": expected 0 to " + std::to_string(num_ranks - 1));
    const RankProgram& part = program.ranks[static_cast<std::size_t>(rank)];
    std::vector<PythonProgramOp> ops;
    ops.reserve(part.ops.size());
    for (const ProgramOp& op : part.ops) {
        const auto after = part.dependencies_of(op);
        ops.push_back({op, {after.begin(), after.end()}});
    }
    return ops;
}

std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> count_ops(const Program& program) {
    std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> counts;
    for (const auto kind : {ProgramOpKind::send, ProgramOpKind::recv, ProgramOpKind::compute, ProgramOpKind::reduce}) {
        auto& [name, number, bytes] = counts.emplace_back(name_of(kind), 0, 0);
        for (const RankProgram& rank : program.ranks)
            for (const ProgramOp& op : rank.ops)
                if (op.kind == kind) {
                    ++number;
                    bytes += op.bytes;
                }
    }
    return counts;
}

}  // namespace

void bind_program(nb::module_& module) {
    nb::class_<PythonProgramOp>(module, "ProgramOp", "One operation of one rank of a Program.")
        .def_prop_ro(
            "kind", [](const PythonProgramOp& o) { return name_of(o.op.kind); },
            "send, recv, compute, reduce, connect or disconnect")
        .def_prop_ro(
            "peer", [](const PythonProgramOp& o) { return o.op.peer.value; }, "-1 for compute and reduce.")
        .def_prop_ro("tag", [](const PythonProgramOp& o) { return o.op.tag; })
        .def_prop_ro("bytes", [](const PythonProgramOp& o) { return o.op.bytes; })
        .def_prop_ro("seconds", [](const PythonProgramOp& o) { return o.op.seconds; })
        .def_ro("after", &PythonProgramOp::after, "Indices of the ops of this rank that it waits for.")
        .def("__repr__", [](const PythonProgramOp& o) { return "ProgramOp(" + std::string(name_of(o.op.kind)) + ")"; });

    nb::class_<Program>(module, "Program",
                        "Per rank, a DAG of operations with sizes, free of links and times of arrival.")
        .def_static("from_goal", &program_from_goal, "text"_a, "source_name"_a = "program",
                    nb::call_guard<nb::gil_scoped_release>(), "Reads GOAL text, the language of LogGOPSim.")
        .def("to_goal", &to_goal, "reduce_bytes_per_s"_a = std::numeric_limits<double>::infinity(),
             nb::call_guard<nb::gil_scoped_release>(),
             "GOAL text; a reduction is a comment and a calc of bytes / reduce_bytes_per_s; times are rounded to ns.")
        .def_prop_ro("has_circuits", &has_circuits, "Whether it connects circuits itself.")
        .def_prop_ro("num_ranks", [](const Program& p) { return p.ranks.size(); })
        .def("ops", &ops_of, "rank"_a)
        .def("count_ops", &count_ops, "Of all ranks: kind, number and bytes of the ops of each kind.")
        .def(
            "__eq__", [](const Program& a, const Program& b) { return a == b; }, nb::is_operator())
        .def("__repr__", [](const Program& p) { return "Program(num_ranks=" + std::to_string(p.ranks.size()) + ")"; });

    module.def(
        "changed_program",
        [](const Program& program, const bindings::WhatIfValues& values) {
            return changed(program, bindings::what_if_from(values));
        },
        "program"_a, "what_if"_a, nb::call_guard<nb::gil_scoped_release>(),
        "See hocket.simulation.what_if: CPU scale, that of ranks, delays (rank, seconds, at_s), noise, its seed.");
    module.def(
        "lower", &lower, "schedule"_a, "bytes"_a, "element_bytes"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
        "A Schedule with sizes: `bytes` is the message of bcast, reduce and allreduce, the block of one rank else.");
}
