// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/replay/program_builder.hpp"
#include "hocket/replay/textbook.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

std::vector<Rank> ranks_from(const std::vector<std::int32_t>& values) {
    std::vector<Rank> ranks;
    ranks.reserve(values.size());
    for (const std::int32_t value : values) ranks.emplace_back(value);
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
        "textbook_algorithm",
        [](const std::string& collective, std::int32_t num_ranks, std::int64_t bytes) {
            return std::string(replay::textbook_algorithm(collective_from(collective), num_ranks, bytes));
        },
        "collective"_a, "num_ranks"_a, "bytes"_a, "The algorithm that an MPI is assumed to use when nothing better is known.");
}
