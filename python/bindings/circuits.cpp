// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "circuit_dict.hpp"
#include "hocket/search/circuits/bounds.hpp"
#include "hocket/search/circuits/find.hpp"
#include "hocket/search/circuits/steps.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

nb::dict to_dict(const circuits::CircuitSchedule& schedule) {
    nb::list circuits;
    for (const circuits::Circuit& circuit : schedule.circuits) circuits.append(bindings::to_dict(circuit));
    nb::list messages;
    for (const circuits::Message& message : schedule.messages) {
        nb::dict one;
        one["circuit"] = message.circuit;
        one["from"] = message.from;
        one["to"] = message.to;
        one["blocks"] = message.blocks;
        if (message.reduces) one["reduces"] = true;
        one["time_s"] = nb::make_tuple(message.begin_s, message.end_s);
        messages.append(one);
    }
    nb::dict result;
    result["block_bytes"] = schedule.block_bytes;
    result["circuits"] = circuits;
    result["messages"] = messages;
    return result;
}

circuits::Rules rules_of(std::int32_t p, std::int32_t k, double s, double d, double alpha, double beta,
                         std::string_view injection, std::string_view stop, std::string_view accounting,
                         std::string_view controller) {
    circuits::Rules rules{};
    rules.num_nodes = p;
    rules.ports = k;
    rules.latency_s = alpha;
    rules.s_per_byte = beta;
    rules.times.setup_s = s;
    rules.times.teardown_s = d;
    using namespace circuits;
    rules.times.accounting = bindings::value_from<Accounting>("accounting", accounting, accounting_names);
    rules.injection = bindings::value_from<Injection>("injection", injection, injection_names);
    rules.stop = bindings::value_from<Stop>("stop", stop, stop_names);
    rules.controller = bindings::value_from<Controller>("controller", controller, controller_names);
    return rules;
}

nb::dict circuit_schedule(std::string_view collective, std::int32_t p, std::int32_t k, double bytes, double s, double d,
                          double alpha, double beta, std::string_view injection, std::string_view stop,
                          std::string_view accounting, std::string_view controller,
                          std::optional<std::int32_t> segments, double time_limit_s, std::uint64_t seed,
                          const nb::object& on_progress) {
    const circuits::Rules rules = rules_of(p, k, s, d, alpha, beta, injection, stop, accounting, controller);
    const search::CircuitProblem problem{collective_from(collective), rules, bytes, segments, time_limit_s, seed};
    search::CircuitAnswer answer;
    {
        const nb::gil_scoped_release released;
        std::function<bool()> go_on;
        if (!on_progress.is_none())
            go_on = [&] {
                const nb::gil_scoped_acquire acquired;
                return nb::cast<bool>(on_progress());
            };
        answer = search::find_circuit_schedule(problem, go_on);
    }
    nb::dict result;
    result["makespan_s"] = answer.schedule.makespan_s;
    result["lower_bound_s"] = answer.lower_bound_s;
    result["optimal"] = answer.optimal;
    result["algorithm"] = answer.algorithm;
    result["blocks"] = answer.blocks;
    result["reference_s"] = problem.collective == Collective::bcast
                                ? nb::cast(search::pipelined_reference_s(rules, bytes))
                                : nb::object(nb::none());
    result["schedule"] = to_dict(answer.schedule);
    return result;
}

/// None: there is no such algorithm in steps for so many nodes.
nb::object circuit_steps_schedule(std::string_view collective, std::string_view algorithm, std::int32_t p,
                                  std::int32_t k, double bytes, double s, double d, double alpha, double beta,
                                  std::string_view injection, std::string_view stop, std::string_view accounting,
                                  std::string_view controller, bool joins) {
    const circuits::Rules rules = rules_of(p, k, s, d, alpha, beta, injection, stop, accounting, controller);
    for (const search::Steps& steps : search::steps_of(collective_from(collective), p, bytes)) {
        if (steps.algorithm != algorithm) continue;
        const circuits::Draft draft = search::by_configurations(steps, p, k, joins);
        const circuits::CircuitSchedule schedule = circuits::timed(draft, rules);
        nb::dict result = to_dict(schedule);
        result["blocks"] = steps.blocks;
        return nb::make_tuple(schedule.makespan_s, result);
    }
    return nb::none();
}

}  // namespace

void bind_circuits(nb::module_& module) {
    module.def(
        "circuit_schedule", &circuit_schedule, nb::kw_only(), "collective"_a, "p"_a, "k"_a, "bytes"_a, "s"_a, "d"_a,
        "alpha"_a, "beta"_a, "injection"_a = "one", "stop"_a = "all", "accounting"_a = "equations",
        "controller"_a = "parallel", "segments"_a.none() = 1, "time_limit_s"_a = 3.0, "seed"_a = 1,
        "on_progress"_a = nb::none(),
        nb::sig("def circuit_schedule(*, collective: str, p: int, k: int, bytes: float, s: float, d: float, "
                "alpha: float, beta: float, injection: str = 'one', stop: str = 'all', accounting: str = 'equations', "
                "controller: str = 'parallel', segments: int | None = 1, time_limit_s: float = 3.0, seed: int = 1, "
                "on_progress: collections.abc.Callable[[], bool] | None = None) -> dict"),
        "A fast schedule of bcast, reduce, allgather, allreduce or alltoall on circuits: see "
        "docs/reference/circuits.md.");
    module.def(
        "circuit_steps_schedule", &circuit_steps_schedule, nb::kw_only(), "collective"_a, "algorithm"_a, "p"_a, "k"_a,
        "bytes"_a, "s"_a, "d"_a, "alpha"_a, "beta"_a, "injection"_a, "stop"_a, "accounting"_a, "controller"_a,
        "joins"_a,
        nb::sig(
            "def circuit_steps_schedule(*, collective: str, algorithm: str, p: int, k: int, bytes: float, s: float, "
            "d: float, alpha: float, beta: float, injection: str, stop: str, accounting: str, controller: str, "
            "joins: bool) -> tuple[float, dict] | None"),
        "Makespan and schedule of an algorithm in steps; None: there is none. With `joins` consecutive steps share a "
        "configuration, otherwise each has its own.");
}
