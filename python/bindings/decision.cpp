// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "hocket/base/error.hpp"
#include "hocket/decision/decider.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using decision::Decider;

namespace {

using Ranks = std::vector<std::int32_t>;

std::vector<Rank> ranks_from(const Ranks& values) { return {values.begin(), values.end()}; }

}  // namespace

void bind_decision(nb::module_& module) {
    nb::class_<Decider>(module, "Decider",
                        "Decides, from a network and the costs of messages alone, which calls of communicators a "
                        "schedule serves: what `hocket run --network` does inside the program.")
        .def(nb::init<const Network&, const CostModel&, std::string_view>(), "network"_a, "costs"_a, "mpi"_a = "",
             nb::keep_alive<1, 2>(), "`mpi`: whose own times are taken from the network's calibration, if it has them.")
        .def(
            "entries",
            [](Decider& decider, std::string_view collective, const Ranks& members) {
                return decider.entries(collective_from(collective), ranks_from(members));
            },
            "collective"_a, "members"_a,
            "Entries for calls of any root and of 0 B to 2 GiB, in increasing order of bytes; sizes that are best left "
            "to the MPI have none. `members`: ranks of the network in the order of the communicator.")
        .def(
            "fastest",
            [](Decider& decider, std::string_view collective, const Ranks& members, std::int64_t bytes) {
                const Collective kind = collective_from(collective);
                auto [schedule, predicted_s] = decider.fastest(kind, ranks_from(members), bytes);
                PlanEntry entry{kind, members, bytes, bytes, std::nullopt, std::move(schedule)};
                entry.predicted_s = predicted_s;
                return entry;
            },
            "collective"_a, "members"_a, "bytes"_a,
            "The schedule that is predicted to be the fastest for calls of this size, as an entry with its time.")
        .def(
            "predicted_s",
            [](Decider& decider, const PlanEntry& entry, const Ranks& members, std::int64_t bytes) {
                if (entry.schedule.algorithm() == nullptr)
                    throw InvalidInput("a schedule that is carried whole is not predicted here", "simulate it");
                return decider.predicted_s(entry.schedule, ranks_from(members), bytes);
            },
            "entry"_a, "members"_a, "bytes"_a, "How long a call takes that the entry serves; mean over a few roots.")
        .def(
            "native_s",
            [](Decider& decider, std::string_view collective, const Ranks& members, std::int64_t bytes) {
                return decider.native_s(collective_from(collective), ranks_from(members), bytes);
            },
            "collective"_a, "members"_a, "bytes"_a,
            "The same of the MPI's own function: as measured, or taken to be the textbook algorithm of MPICH in the "
            "order of ranks.");
}
