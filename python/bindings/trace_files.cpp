// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/trace_files.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "hocket/replay/trace_stream.hpp"
#include "hocket/simulation/simulate.hpp"
#include "text.hpp"
#include "what_if.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

struct SimulatedTrace {
    Timeline timeline;
    double recorded_span_s;
    std::vector<replay::LeftOut> left_out;
};

SimulatedTrace simulate_trace(trace::TraceFiles& files, const Network& network, const CostModel& costs,
                              const Plan* plan, const std::vector<replay::NativeModel>& native, bool cpu_time,
                              std::int64_t eager_bytes, const bindings::WhatIfValues& what_if, bool reference,
                              const std::optional<bindings::PythonProgress>& on_progress) {
    const SimulationOptions options{
        .costs = costs, .reference = reference, .on_progress = bindings::on_progress(on_progress)};
    const replay::ReplayOptions replayed{
        .cpu_time = cpu_time, .eager_bytes = eager_bytes, .what_if = bindings::what_if_from(what_if)};
    const nb::gil_scoped_release release;
    const Plan none;
    replay::TraceStream stream(files, plan == nullptr ? none : *plan, native, replayed);
    Timeline timeline = simulate(stream, network, options);
    return {std::move(timeline), stream.recorded_span_s(), stream.left_out().rows()};
}

}  // namespace

void bind_trace_files(nb::module_& module) {
    using trace::RankEnd, trace::TraceFiles;
    nb::class_<RankEnd>(module, "RankEnd", "How the recording of a rank ended.")
        .def_prop_ro("end", [](const RankEnd& one) { return bindings::end_name(one.end); })
        .def_prop_ro(
            "elapsed_s",
            [](const RankEnd& one) { return static_cast<double>(one.last_exit_ns - one.first_enter_ns) * 1e-9; },
            "From its first call to its last.");
    nb::class_<SimulatedTrace>(module, "SimulatedTrace")
        .def_ro("timeline", &SimulatedTrace::timeline, "Without the times of operations.")
        .def_ro("recorded_span_s", &SimulatedTrace::recorded_span_s, "As in Replayed.")
        .def_ro("left_out", &SimulatedTrace::left_out, "Likewise.");
    nb::class_<TraceFiles>(module, "TraceFiles", "A trace folder that is read forward, a part of it at a time.")
        .def(nb::init<std::filesystem::path>(), "folder"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("num_ranks", &TraceFiles::num_ranks)
        .def_prop_ro(
            "functions", [](const TraceFiles& files) { return bindings::texts(files.tables().functions); },
            "As far as they were read.")
        .def_prop_ro(
            "communicators", [](const TraceFiles& files) { return files.tables().communicators; }, "Likewise.")
        .def(
            "read",
            [](TraceFiles& files, std::int32_t rank, const nb::callable& on_part) {
                if (rank < 0 || rank >= files.num_ranks()) throw nb::index_error("no such rank");
                const auto reader = files.read(rank, trace::CpuReadings::filled);
                std::string host;
                while (const trace::RankFile* const part = reader->next()) {
                    host = part->host;
                    on_part(bindings::rows_of(part->calls, nb::none()));
                }
                return bindings::text(host);
            },
            "rank"_a, "on_part"_a,
            "Gives the rows of its calls to a function, a part at a time, which are valid until that returns. Returns "
            "the "
            "name of the rank's host.")
        .def("simulate", &simulate_trace, "network"_a, "costs"_a, "plan"_a.none(), "native"_a, "cpu_time"_a,
             "eager_bytes"_a, "what_if"_a, nb::kw_only(), "reference"_a = false, "on_progress"_a = nb::none(),
             "The time of the recorded program on a network, as replay() and simulate() have it, in a memory that does "
             "not grow with the number of calls.")
        .def(
            "end",
            [](const TraceFiles& files, std::int32_t rank) {
                if (rank < 0 || rank >= files.num_ranks()) throw nb::index_error("no such rank");
                return files.end(rank);
            },
            "rank"_a, "Once the trace was read.")
        .def(
            "open_call",
            [](const TraceFiles& files, std::int32_t rank) {
                if (rank < 0 || rank >= files.num_ranks()) throw nb::index_error("no such rank");
                const std::int32_t function = files.end(rank).open_function;
                return bindings::text(function < 0 ? std::string()
                                                   : files.tables().functions[static_cast<std::size_t>(function)]);
            },
            "rank"_a, "The function that the main thread was in when recording was cut off; empty: none.");
}
