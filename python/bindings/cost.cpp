// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/cost/circuits.hpp"
#include "hocket/cost/cost_model.hpp"
#include "hocket/cost/hockney.hpp"
#include "hocket/cost/wire_limit.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

void make(CostModel* self, double send_overhead_s, double receive_overhead_s, double reduce_bytes_per_s,
          std::optional<std::int64_t> rendezvous_bytes, std::string_view sharing, std::optional<double> host_overhead_s,
          double wake_s, double copy_bytes_per_s, double link_efficiency, std::int32_t cores, double burst_bytes,
          double burst_s) {
    new (self)
        CostModel({send_overhead_s, receive_overhead_s, reduce_bytes_per_s, rendezvous_bytes, sharing_from(sharing),
                   host_overhead_s, wake_s, copy_bytes_per_s, link_efficiency, cores, burst_bytes, burst_s});
}

/// By the names and in the order of the arguments of make().
nb::dict to_dict(const CostModel& costs) {
    nb::dict values;
    values["send_overhead_s"] = costs->send_overhead_s;
    values["receive_overhead_s"] = costs->receive_overhead_s;
    values["reduce_bytes_per_s"] = costs->reduce_bytes_per_s;
    values["rendezvous_bytes"] = costs->rendezvous_bytes;
    values["sharing"] = name_of(costs->sharing);
    values["host_overhead_s"] = costs->host_overhead_s;
    values["wake_s"] = costs->wake_s;
    values["copy_bytes_per_s"] = costs->copy_bytes_per_s;
    values["link_efficiency"] = costs->link_efficiency;
    values["cores"] = costs->cores;
    values["burst_bytes"] = costs->burst_bytes;
    values["burst_s"] = costs->burst_s;
    return values;
}

nb::object replaced(nb::handle self, const nb::kwargs& changes) {
    nb::dict values = to_dict(nb::cast<const CostModel&>(self));
    for (const auto& [name, value] : changes) values[name] = value;
    return self.type()(**values);
}

/// Names what is not the default.
std::string repr(const CostModel& costs) {
    const nb::dict defaults = to_dict(CostModel{});
    std::string text;
    for (const auto& [name, value] : to_dict(costs))
        if (!value.equal(defaults[name]))
            text += (text.empty() ? "" : ", ") + std::string(nb::str(name).c_str()) + "=" + nb::repr(value).c_str();
    return "CostModel(" + text + ")";
}

void bind_cost_model(nb::module_& module) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    nb::class_<CostModel>(
        module, "CostModel",
        "What a message costs beside its time on the wire, and how messages share links. LogGP's o_s, "
        "o_r and S are send_overhead_s, receive_overhead_s and rendezvous_bytes; L and G are the "
        "latencies and bandwidths of the network. By default all is free. Immutable.")
        .def("__init__", &make, "send_overhead_s"_a = 0.0, "receive_overhead_s"_a = 0.0,
             "reduce_bytes_per_s"_a = infinite, "rendezvous_bytes"_a = std::numeric_limits<std::int64_t>::max(),
             "sharing"_a = "maxmin", "host_overhead_s"_a = nb::none(), "wake_s"_a = 0.0,
             "copy_bytes_per_s"_a = infinite, "link_efficiency"_a = 1.0, "cores"_a = 0, "burst_bytes"_a = 0.0,
             "burst_s"_a = 0.0)
        .def_static("usual", &CostModel::usual, "Of MPI over kernel TCP on a current x86 core.")
        .def_static("of", &CostModel::of, "network"_a,
                    "The usual costs, except those in the table [calibration] of the network's file.")
        .def_prop_ro(
            "send_overhead_s", [](const CostModel& c) { return c->send_overhead_s; },
            "CPU time of a rank for each message that it sends (o_s). A rank's CPU does one thing at a time.")
        .def_prop_ro(
            "receive_overhead_s", [](const CostModel& c) { return c->receive_overhead_s; },
            "The same for each message that it receives (o_r).")
        .def_prop_ro(
            "reduce_bytes_per_s", [](const CostModel& c) { return c->reduce_bytes_per_s; },
            "Rate of reductions: bytes of one operand a second.")
        .def_prop_ro(
            "rendezvous_bytes", [](const CostModel& c) { return c->rendezvous_bytes; },
            "Messages from this size on ask their receiver first, and wait for its answer (S). None = not known; then "
            "64 KiB are assumed.")
        .def_prop_ro("rendezvous_limit_bytes", &CostModel::rendezvous_limit_bytes,
                     "rendezvous_bytes, or what is assumed where it is not known.")
        .def_prop_ro(
            "sharing", [](const CostModel& c) { return name_of(c->sharing); },
            "How messages share links: \"none\" (each has its route to itself), \"equal\" (a link divides its "
            "bandwidth "
            "equally), \"maxmin\" (max-min fair) or \"reserve\" (a message has the least bandwidth of its route for "
            "itself, or waits).")
        .def_prop_ro(
            "host_overhead_s", [](const CostModel& c) { return c->host_overhead_s; },
            "Both overheads of messages between ranks of one host. None = as those between hosts.")
        .def_prop_ro(
            "wake_s", [](const CostModel& c) { return c->wake_s; }, "What a rank that had nothing to do pays to go on.")
        .def_prop_ro(
            "copy_bytes_per_s", [](const CostModel& c) { return c->copy_bytes_per_s; },
            "Rate of copies at both ends, which take CPU time beside the overheads.")
        .def_prop_ro(
            "link_efficiency", [](const CostModel& c) { return c->link_efficiency; },
            "Share of each bandwidth that messages get.")
        .def_prop_ro(
            "cores", [](const CostModel& c) { return c->cores; }, "That all ranks share; 0 = each has its own.")
        .def_prop_ro(
            "burst_bytes", [](const CostModel& c) { return c->burst_bytes; },
            "After a pause a link lets the larger of burst_bytes and bandwidth * burst_s pass at once.")
        .def_prop_ro(
            "burst_s", [](const CostModel& c) { return c->burst_s; }, "See burst_bytes.")
        .def("to_dict", &to_dict, nb::sig("def to_dict(self) -> dict[str, float | int | str | None]"),
             "The arguments that make an equal one.")
        .def("replace", &replaced, nb::sig("def replace(self, **changes: float | int | str | None) -> CostModel"),
             "The same with other values of some arguments.")
        .def("__replace__", &replaced,
             nb::sig("def __replace__(self, **changes: float | int | str | None) -> CostModel"))
        .def("__reduce__",
             [](nb::handle self) {
                 return nb::make_tuple(self.type(), nb::tuple(to_dict(nb::cast<const CostModel&>(self)).values()));
             })
        .def(
            "__eq__", [](const CostModel& a, const CostModel& b) { return a == b; }, nb::is_operator())
        .def("__hash__", [](const CostModel& c) { return nb::hash(nb::tuple(to_dict(c).values())); })
        .def("__repr__", &repr);
}

double wire_limit_s(std::string_view collective, const Network& network, const std::vector<std::int32_t>& ranks,
                    std::int64_t bytes, std::int32_t root, double burst_bytes, double burst_s) {
    std::vector<Rank> members;
    for (const std::int32_t rank : ranks) members.emplace_back(rank);
    return cost::wire_limit_s(collective_from(collective), network, members, bytes, Rank{root}, {burst_bytes, burst_s});
}

double hockney_s(std::string_view collective, std::string_view algorithm, std::int32_t num_ranks, std::int64_t bytes,
                 double latency_s, double bandwidth_bytes_per_s, std::int32_t segments,
                 std::optional<std::int32_t> pieces) {
    return cost::hockney_s(collective_from(collective), algorithm, num_ranks, bytes, latency_s, bandwidth_bytes_per_s,
                           pieces.value_or(segments));
}

nb::dict circuit_cost(std::string_view collective, std::string_view algorithm, std::int32_t num_ranks,
                      std::optional<std::int32_t> ports, double bytes, double latency_s, double bandwidth_bytes_per_s,
                      double setup_s, double teardown_s, std::string_view accounting) {
    const cost::CircuitCost cost = cost::circuit_cost(
        collective_from(collective), algorithm,
        {num_ranks,
         ports,
         bytes,
         latency_s,
         bandwidth_bytes_per_s,
         {setup_s, teardown_s,
          bindings::value_from<circuits::Accounting>("accounting", accounting, circuits::accounting_names)}});
    nb::dict values;
    values["messages_s"] = cost.messages_s;
    values["batches"] = cost.batches;
    values["connection_s"] = cost.connection_s;
    values["total_s"] = cost.total_s();
    return values;
}

}  // namespace

void bind_cost(nb::module_& module) {
    bind_cost_model(module);
    using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;
    module.def(
        "wire_limit_s", &wire_limit_s, "collective"_a, "network"_a, "ranks"_a, "bytes"_a, "root"_a = 0,
        "burst_bytes"_a = 0.0, "burst_s"_a = 0.0, ReleaseGil(),
        "A time that no schedule of the collective among these network ranks, a communicator's members in order, "
        "can beat. `bytes` is the message of bcast, reduce and allreduce and the block of one rank for the others; "
        "`root` is a position in `ranks`; `burst_bytes` and `burst_s` as in CostModel.");
    module.def(
        "hockney_s", &hockney_s, "collective"_a, "algorithm"_a, "num_ranks"_a, "bytes"_a, "latency_s"_a,
        "bandwidth_bytes_per_s"_a, "segments"_a = 1, nb::kw_only(), "pieces"_a = nb::none(), ReleaseGil(),
        "Time of an algorithm in Hockney's model: a message of n bytes takes latency_s + n / bandwidth_bytes_per_s, "
        "and a rank sends and receives one message at a time. `pieces` is `segments` in earlier versions.");
    module.def(
        "circuit_cost", &circuit_cost, nb::kw_only(), "collective"_a, "algorithm"_a, "num_ranks"_a, "ports"_a.none(),
        "bytes"_a, "latency_s"_a, "bandwidth_bytes_per_s"_a, "setup_s"_a, "teardown_s"_a, "accounting"_a = "equations",
        "Time of an algorithm on a circuit-switched network, by the equations of [Takizawa]: `messages_s` on circuits "
        "that "
        "are there already, `batches` of circuits one after another, `connection_s` that they take, `total_s`. `ports` "
        "of "
        "each node; None: a circuit for each message. `bytes` need not be whole: the message of bcast and reduce, the "
        "block of a rank otherwise. `accounting`: \"equations\", b (s + d), or \"hidden\", s + (b - 1) max(s, d) + d.");
    module.def(
        "circuit_algorithms",
        [](std::string_view collective) { return cost::circuit_algorithms(collective_from(collective)); },
        "collective"_a, "Names of the algorithms that `circuit_cost` knows.");
}
