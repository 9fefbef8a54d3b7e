// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "hocket/analysis/critical_path.hpp"
#include "hocket/analysis/wait_states.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

/// One run of a program: its instants, waits and critical path.
struct AnalysedRun {
    analysis::Instants instants;
    std::vector<analysis::Wait> waits;
    std::vector<analysis::PathStep> path;
};

/// An array of Python's own: a column of rows.
template <class Number, class Row, class Value>
auto column(const std::vector<Row>& rows, Value value) {
    auto* values = new std::vector<Number>;
    const nb::capsule owner(values, [](void* pointer) noexcept { delete static_cast<std::vector<Number>*>(pointer); });
    values->reserve(rows.size());
    for (const Row& row : rows) values->push_back(static_cast<Number>(value(row)));
    return nb::ndarray<nb::numpy, Number, nb::ndim<1>>(values->data(), {values->size()}, owner);
}

const std::vector<analysis::Instants::Span>& spans_of(const AnalysedRun& run, std::int32_t rank) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= run.instants.calls.size())
        throw nb::index_error(("rank " + std::to_string(rank) + " is not in the run").c_str());
    return run.instants.calls[static_cast<std::size_t>(rank)];
}

}  // namespace

void bind_analysis(nb::module_& module) {
    using analysis::PathStep;
    using analysis::Wait;
    nb::class_<AnalysedRun>(module, "AnalysedRun",
                            "Instants, wait states and critical path of a run of a traced program.")
        .def(
            "enter_ns",
            [](const AnalysedRun& self, std::int32_t rank) {
                return column<std::int64_t>(spans_of(self, rank), [](const auto& span) { return span.enter_ns; });
            },
            "rank"_a, "Of each call of the trace, on its clock.")
        .def(
            "exit_ns",
            [](const AnalysedRun& self, std::int32_t rank) {
                return column<std::int64_t>(spans_of(self, rank), [](const auto& span) { return span.exit_ns; });
            },
            "rank"_a)
        .def_prop_ro("start_ns", [](const AnalysedRun& self) { return self.instants.start_ns; })
        .def_prop_ro(
            "wait_rank",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.waits, [](const Wait& wait) { return wait.rank; });
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "wait_call",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.waits, [](const Wait& wait) { return wait.call; });
            },
            nb::rv_policy::automatic, "Place among the calls of the rank.")
        .def_prop_ro(
            "wait_state",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.waits, [](const Wait& wait) { return static_cast<int>(wait.state); });
            },
            nb::rv_policy::automatic, "Place in wait_states().")
        .def_prop_ro(
            "wait_ns",
            [](const AnalysedRun& self) {
                return column<std::int64_t>(self.waits, [](const Wait& wait) { return wait.wait_ns; });
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "cause_rank",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.waits, [](const Wait& wait) { return wait.cause_rank; });
            },
            nb::rv_policy::automatic, "The rank that was waited for.")
        .def_prop_ro(
            "cause_call",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.waits, [](const Wait& wait) { return wait.cause_call; });
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "path_rank",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.path, [](const PathStep& step) { return step.rank; });
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "path_function",
            [](const AnalysedRun& self) {
                return column<std::int32_t>(self.path, [](const PathStep& step) { return step.function; });
            },
            nb::rv_policy::automatic, "Of the trace; -1: computation, -2: waiting for a core.")
        .def_prop_ro(
            "path_start_s",
            [](const AnalysedRun& self) {
                return column<double>(self.path, [](const PathStep& step) { return step.start_s; });
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "path_end_s",
            [](const AnalysedRun& self) {
                return column<double>(self.path, [](const PathStep& step) { return step.end_s; });
            },
            nb::rv_policy::automatic);
    module.def(
        "analyse_recorded",
        [](const Trace& trace, const replay::Replayed& replayed) {
            AnalysedRun run{analysis::recorded_instants(trace, replayed), {}, {}};
            run.waits = analysis::wait_states(trace, replayed, run.instants);
            run.path = analysis::critical_path(trace, run.instants, run.waits);
            return run;
        },
        "trace"_a, "replayed"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The recorded run. `replayed`: the trace with `call_ops`, which tells what calls belong together.");
    module.def(
        "analyse_simulated",
        [](const Trace& trace, const replay::Replayed& replayed, const Network& network, const CostModel& costs,
           const std::optional<bindings::PythonProgress>& on_progress) {
            const nb::gil_scoped_release release;
            analysis::SimulatedPath found =
                analysis::simulate_path(trace, replayed, network, costs, bindings::on_progress(on_progress));
            AnalysedRun run{analysis::simulated_instants(replayed, found.timeline), {}, std::move(found.steps)};
            run.waits = analysis::wait_states(trace, replayed, run.instants);
            return run;
        },
        "trace"_a, "replayed"_a, "network"_a, "costs"_a, "on_progress"_a = nb::none(),
        "Simulates the replay with `call_ops` on this network with these costs.");
    module.def(
        "wait_states",
        [] {
            std::vector<std::string> names;
            for (int state = 0; state < analysis::num_wait_states; ++state)
                names.emplace_back(analysis::name_of(static_cast<analysis::WaitState>(state)));
            return names;
        },
        "Their names, in the order of AnalysedRun.wait_state.");
}
