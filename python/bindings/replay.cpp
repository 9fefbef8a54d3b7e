// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/base/error.hpp"
#include "hocket/collectives/textbook.hpp"
#include "hocket/replay/place.hpp"
#include "hocket/replay/replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

std::vector<Rank> ranks_from(const std::vector<std::int32_t>& values) {
    std::vector<Rank> ranks;
    ranks.reserve(values.size());
    for (const std::int32_t value : values) {
        ranks.emplace_back(value);
    }
    return ranks;
}

}  // namespace

void bind_replay(nb::module_& module) {
    module.def(
        "place",
        [](const Program& program, const std::vector<std::int32_t>& members, std::int32_t num_ranks) {
            return replay::place(program, ranks_from(members), num_ranks);
        },
        "program"_a, "members"_a, "num_ranks"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The program with its rank i moved to rank members[i] of num_ranks; the other ranks do nothing.");
    module.def(
        "place_all",
        [](const std::vector<const Program*>& programs, const std::vector<std::vector<std::int32_t>>& members,
           std::int32_t num_ranks) {
            std::vector<std::vector<Rank>> ranks;
            for (const auto& one : members) ranks.push_back(ranks_from(one));
            if (ranks.size() != programs.size())
                throw InvalidInput(std::to_string(programs.size()) + " programs and members of " +
                                   std::to_string(ranks.size()));
            return replay::place_all(programs, ranks, num_ranks);
        },
        "programs"_a, "members"_a, "num_ranks"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Programs side by side: rank i of programs[j] moved to rank members[j][i] of num_ranks.");
    module.def(
        "textbook_algorithm",
        [](const std::string& collective, std::int32_t num_ranks, std::int64_t bytes) {
            return std::string(collectives::textbook_algorithm(collective_from(collective), num_ranks, bytes));
        },
        "collective"_a, "num_ranks"_a, "bytes"_a,
        "The algorithm that an MPI is assumed to use when nothing better is known.");

    nb::class_<replay::NativeModel>(
        module, "NativeModel",
        "What stands for the MPI's own algorithm in the calls that `entry` serves, with their bytes times `scale`.")
        .def(
            "__init__",
            [](replay::NativeModel* self, const PlanEntry& entry, double scale) {
                new (self) replay::NativeModel{entry, scale};
            },
            "entry"_a, "scale"_a)
        .def_ro("entry", &replay::NativeModel::entry)
        .def_ro("scale", &replay::NativeModel::scale);
    nb::class_<replay::LeftOut>(module, "LeftOut", "Calls of a trace that its Program lacks.")
        .def_ro("function", &replay::LeftOut::function, "As recorded, or \"messages sent\", \"messages received\".")
        .def_ro("reason", &replay::LeftOut::reason)
        .def_ro("calls", &replay::LeftOut::calls)
        .def_ro("bytes", &replay::LeftOut::bytes, "As far as they are known.");
    nb::class_<replay::Replayed>(module, "Replayed")
        .def_ro("program", &replay::Replayed::program)
        .def_ro("recorded_span_s", &replay::Replayed::recorded_span_s,
                "From the first rank's return from MPI_Init to the last one's call of MPI_Finalize.")
        .def_ro("left_out", &replay::Replayed::left_out, "What the program lacks.");
    module.def(
        "replay",
        [](const Trace& trace, const Plan* plan, const std::vector<replay::NativeModel>& native, bool cpu_time,
           std::int64_t eager_bytes, double time_slice_s, bool call_ops) {
            return replay::replay(trace, plan == nullptr ? Plan() : *plan, native,
                                  {cpu_time, eager_bytes, time_slice_s, call_ops});
        },
        "trace"_a, "plan"_a.none(), "native"_a, "cpu_time"_a, "eager_bytes"_a, "time_slice_s"_a = 0.0,
        "call_ops"_a = false, nb::call_guard<nb::gil_scoped_release>(),
        "A recorded program as a Program; collectives by the plan, else by the first of `native` that serves them, "
        "else by a textbook algorithm. `time_slice_s`: longer computations are divided, so that ranks that share a "
        "core "
        "take turns; 0 = they are not. `call_ops`: keep which operations belong to which call.");
}
