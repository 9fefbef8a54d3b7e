// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "hocket/base/error.hpp"
#include "hocket/simulation/traffic.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

TrafficResult run(const Traffic& traffic, const network::Fabric& fabric, std::string_view sharing,
                  std::int32_t in_flight, std::int32_t threads, bool reference, bool record_links,
                  std::int32_t link_bins, const std::optional<bindings::LinkRows>& link_rows,
                  const std::vector<std::int32_t>& record_messages_of, std::int64_t most_messages,
                  const std::optional<bindings::PythonProgress>& on_progress) {
    TrafficOptions options{.sharing = sharing_from(sharing),
                           .in_flight = in_flight,
                           .record_links = record_links,
                           .num_threads = threads,
                           .reference = reference,
                           .on_progress = bindings::on_progress(on_progress),
                           .link_bins = bindings::link_bin_options(link_bins, link_rows),
                           .record_messages = {.sources = {}, .most_messages = most_messages}};
    for (const std::int32_t source : record_messages_of) options.record_messages.sources.emplace_back(source);
    const nb::gil_scoped_release release;
    return simulate_traffic(traffic, fabric, options);
}

using Integers = nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>>;
using Numbers = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>;

/// One field of all recorded messages, as a view.
template <class Array, class Field>
Array column(nb::handle self, Field RecordedMessage::* field) {
    static_assert(sizeof(RecordedMessage) == 32);
    const auto& messages = nb::cast<const TrafficResult&>(self).messages;
    return Array(messages.empty() ? nullptr : &(messages.front().*field), {messages.size()}, self,
                 {static_cast<std::int64_t>(sizeof(RecordedMessage) / sizeof(Field))});
}

}  // namespace

void bind_traffic_simulation(nb::module_& module) {
    nb::class_<TrafficResult>(
        module, "TrafficResult",
        "The result of simulating Traffic. Times are in seconds; arrays are views of this object.")
        .def_ro("completed", &TrafficResult::completed,
                "False if on_progress stopped it: all else is as far as it had come.")
        .def_ro("simulated_s", &TrafficResult::simulated_s, "The time reached.")
        .def_ro("makespan_s", &TrafficResult::makespan_s, "When the last byte of all has arrived.")
        .def_ro("mean_finish_s", &TrafficResult::mean_finish_s,
                "Over the sources that send anything, of when their last byte has arrived.")
        .def_ro("num_messages", &TrafficResult::num_messages, "That have left: the events of the simulation.")
        .def_ro("num_rates", &TrafficResult::num_rates, "How often a message got a rate, or another one.")
        .def_ro("num_threads", &TrafficResult::num_threads, "That ran.")
        .def_ro("setup_s", &TrafficResult::setup_s, "Real time taken by tables and the start of the first messages.")
        .def_ro("solve_s", &TrafficResult::solve_s, "Real time taken by all that followed.")
        .def_prop_ro(
            "finish_s",
            [](nb::handle self) { return bindings::view(self, nb::cast<const TrafficResult&>(self).finish_s); },
            "When the last byte of each source has arrived; 0 = it sends nothing, NaN = it had not finished.")
        .def_prop_ro(
            "link_bytes",
            [](nb::handle self) { return bindings::view(self, nb::cast<const TrafficResult&>(self).link_bytes); },
            "Bytes of the messages that were sent over each link; needs record_links or link_bins.")
        .def_prop_ro(
            "link_bins",
            [](nb::handle self) { return bindings::view(self, nb::cast<const TrafficResult&>(self).link_bins); },
            "Bytes that passed each link (or row of links) in each bin of time; needs link_bins > 0.")
        .def_prop_ro(
            "bin_s", [](const TrafficResult& r) { return r.link_bins.bin_s; }, "Width of a bin.")
        .def_prop_ro(
            "message_source", [](nb::handle self) { return column<Numbers>(self, &RecordedMessage::source); },
            "Rank that sent each recorded message, in the order in which they started.")
        .def_prop_ro("message_target", [](nb::handle self) { return column<Numbers>(self, &RecordedMessage::target); })
        .def_prop_ro("message_bytes", [](nb::handle self) { return column<Integers>(self, &RecordedMessage::bytes); })
        .def_prop_ro("message_start_s",
                     [](nb::handle self) { return column<bindings::Vector>(self, &RecordedMessage::start_s); })
        .def_prop_ro(
            "message_end_s", [](nb::handle self) { return column<bindings::Vector>(self, &RecordedMessage::end_s); },
            "Arrival of the last byte; NaN if the simulation was stopped before it left.")
        .def_ro("num_left_out", &TrafficResult::num_left_out, "Messages of the recorded sources beyond most_messages.")
        .def("__repr__", [](const TrafficResult& r) {
            return "TrafficResult(makespan_s=" + std::to_string(r.makespan_s) +
                   ", num_messages=" + std::to_string(r.num_messages) + (r.completed ? ")" : ", not completed)");
        });

    module.def(
        "simulate_traffic", &run, "traffic"_a, "fabric"_a, nb::kw_only(), "sharing"_a = "maxmin", "in_flight"_a = 1,
        "threads"_a = 1, "reference"_a = false, "record_links"_a = false, "link_bins"_a = 0, "link_rows"_a = nb::none(),
        "record_messages_of"_a = std::vector<std::int32_t>(), "most_messages"_a = MessageRecordOptions().most_messages,
        "on_progress"_a = nb::none(),
        "Simulates traffic on a fabric. Each source has up to `in_flight` messages on the way; when one has left, the "
        "next starts. `sharing` is \"none\", \"equal\", \"maxmin\" or \"reserve\". Parts of the traffic that share no "
        "links "
        "are simulated by up to `threads` threads, unless links over time or messages are recorded; the result is the "
        "same for any number. `link_bins` > 0 records the bytes that pass "
        "each link in at most this even number, from 2 on, of equal bins of time, or, with `link_rows`, each row of "
        "links: the row of "
        "each link, int32, -1 = none. `on_progress(done, total, simulated_s)` is called now and then; where it returns "
        "a false value other than None, the simulation ends with what is known by then. Other Python threads run "
        "meanwhile.");
}
