// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/replay/program_builder.hpp"
#include "hocket/replay/replay.hpp"
#include "hocket/replay/textbook.hpp"

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

replay::Rule make_rule(const std::string& collective, std::vector<std::int32_t> members, std::int64_t bytes_min,
                       std::int64_t bytes_max, std::optional<std::int32_t> root, std::string algorithm,
                       std::int32_t pieces, std::int64_t segment_bytes,
                       const std::optional<std::vector<std::int32_t>>& order, std::optional<Schedule> custom,
                       double scale) {
    replay::Rule rule{};
    rule.collective = collective_from(collective);
    rule.members = std::move(members);
    rule.bytes_min = bytes_min;
    rule.bytes_max = bytes_max;
    if (root) {
        rule.root = Rank{*root};
    }
    rule.algorithm = std::move(algorithm);
    rule.pieces = pieces;
    rule.segment_bytes = segment_bytes;
    if (order) {
        rule.order = ranks_from(*order);
    }
    rule.custom = std::move(custom);
    rule.scale = scale;
    return rule;
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
        "textbook_algorithm",
        [](const std::string& collective, std::int32_t num_ranks, std::int64_t bytes) {
            return std::string(replay::textbook_algorithm(collective_from(collective), num_ranks, bytes));
        },
        "collective"_a, "num_ranks"_a, "bytes"_a,
        "The algorithm that an MPI is assumed to use when nothing better is known.");

    nb::class_<replay::Rule>(module, "ReplayRule", "A schedule for some of the collective calls of a trace.")
        .def(
            "__init__",
            [](replay::Rule* self, const std::string& collective, std::vector<std::int32_t> members,
               std::int64_t bytes_min, std::int64_t bytes_max, std::optional<std::int32_t> root, std::string algorithm,
               std::int32_t pieces, std::int64_t segment_bytes, const std::optional<std::vector<std::int32_t>>& order,
               std::optional<Schedule> custom, double scale) {
                new (self) replay::Rule(make_rule(collective, std::move(members), bytes_min, bytes_max, root,
                                                  std::move(algorithm), pieces, segment_bytes, order, std::move(custom),
                                                  scale));
            },
            "collective"_a, "members"_a, "bytes_min"_a, "bytes_max"_a, "root"_a.none(), "algorithm"_a, "pieces"_a,
            "segment_bytes"_a, "order"_a.none(), "custom"_a.none(), "scale"_a = 1.0);
    nb::class_<replay::Replayed>(module, "Replayed")
        .def_ro("program", &replay::Replayed::program)
        .def_ro("recorded_span_s", &replay::Replayed::recorded_span_s,
                "From the first rank's return from MPI_Init to the last one's call of MPI_Finalize.")
        .def_ro("notes", &replay::Replayed::notes, "What the program leaves out.");
    module.def(
        "replay",
        [](const Trace& trace, const std::vector<replay::Rule>& rules, bool cpu_time, std::int64_t eager_bytes) {
            return replay::replay(trace, rules, {cpu_time, eager_bytes});
        },
        "trace"_a, "rules"_a, "cpu_time"_a, "eager_bytes"_a, nb::call_guard<nb::gil_scoped_release>(),
        "A recorded program as a Program; collectives by the first rule that serves them, else by a textbook "
        "algorithm.");
}
