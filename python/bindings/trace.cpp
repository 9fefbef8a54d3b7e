// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "hocket/base/error.hpp"
#include "hocket/trace/collectives.hpp"
#include "hocket/trace/format.h"
#include "hocket/trace/trace.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using bindings::end_name, bindings::rows_of, bindings::text;
using hocket::Trace;

namespace {

using Integers = nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>>;
using ByteRows = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>, nb::c_contig>;
using IntegerRow = nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>, nb::c_contig>;
using Field = std::tuple<std::string, std::string, std::size_t>;  // name, numpy format, offset

Integers integers_of(const std::vector<std::int64_t>& values, nb::handle owner) {
    return {values.data(), {values.size()}, owner};
}

const hocket::trace::RankFile& rank_of(const Trace& trace, std::int32_t rank) {
    if (rank < 0 || rank >= trace.num_ranks()) {
        throw nb::index_error(
            ("rank " + std::to_string(rank) + " is not below " + std::to_string(trace.num_ranks())).c_str());
    }
    return trace.rank(rank);
}

#define HOCKET_FIELD(type, member, format) \
    Field { #member, format, offsetof(type, member) }

std::tuple<std::vector<Field>, std::size_t> call_fields() {
    using Call = hocket::trace::Call;
    return {{HOCKET_FIELD(Call, function, "<i4"),
             HOCKET_FIELD(Call, enter_ns, "<i8"),
             HOCKET_FIELD(Call, exit_ns, "<i8"),
             HOCKET_FIELD(Call, enter_cpu_ns, "<i8"),
             HOCKET_FIELD(Call, exit_cpu_ns, "<i8"),
             HOCKET_FIELD(Call, communicator, "<i4"),
             HOCKET_FIELD(Call, bytes, "<i8"),
             HOCKET_FIELD(Call, root, "<i4"),
             HOCKET_FIELD(Call, peer, "<i4"),
             HOCKET_FIELD(Call, tag, "<i4"),
             HOCKET_FIELD(Call, op, "<i4"),
             HOCKET_FIELD(Call, datatype, "<i4"),
             HOCKET_FIELD(Call, request, "<u8"),
             HOCKET_FIELD(Call, receive_peer, "<i4"),
             HOCKET_FIELD(Call, receive_tag, "<i4"),
             HOCKET_FIELD(Call, receive_bytes, "<i8"),
             HOCKET_FIELD(Call, new_communicator, "<i4"),
             HOCKET_FIELD(Call, window, "<i4"),
             HOCKET_FIELD(Call, file, "<i4"),
             HOCKET_FIELD(Call, error, "<i4"),
             HOCKET_FIELD(Call, thread, "<i2"),
             HOCKET_FIELD(Call, flags, "<u2"),
             HOCKET_FIELD(Call, blocks, "<i8"),
             HOCKET_FIELD(Call, completions, "<i8"),
             HOCKET_FIELD(Call, num_completions, "<i8"),
             HOCKET_FIELD(Call, calls, "<i8"),
             HOCKET_FIELD(Call, outside_ns, "<i8"),
             HOCKET_FIELD(Call, outside_cpu_ns, "<i8")},
            sizeof(Call)};
}

std::tuple<std::vector<Field>, std::size_t> completion_fields() {
    using Completion = hocket::trace::Completion;
    return {{HOCKET_FIELD(Completion, request, "<u8"), HOCKET_FIELD(Completion, source, "<i4"),
             HOCKET_FIELD(Completion, tag, "<i4"), HOCKET_FIELD(Completion, bytes, "<i8")},
            sizeof(Completion)};
}

std::string_view print_form(hocket::trace::Form form) {
    switch (form) {
        case hocket::trace::Form::blocking:
            return "blocking";
        case hocket::trace::Form::nonblocking:
            return "nonblocking";
        case hocket::trace::Form::persistent:
            break;
    }
    return "persistent";
}

void bind_tables(nb::module_& module) {
    using hocket::trace::Communicator;
    using hocket::trace::Datatype;
    using hocket::trace::Operator;
    nb::class_<Communicator>(module, "Communicator", "A communicator of a trace.")
        .def_ro("made_by", &Communicator::made_by, "Function that made it; -1: predefined, or first seen in use.")
        .def_ro("parent", &Communicator::parent, "Id of the communicator it was made from; -1: none or unknown.")
        .def_ro("inter", &Communicator::inter)
        .def_ro("members", &Communicator::members,
                "World ranks in the order of the communicator; -1: outside this world.")
        .def_ro("remote", &Communicator::remote, "The other group of an inter-communicator.");
    nb::class_<Datatype>(module, "Datatype").def_ro("name", &Datatype::name).def_ro("bytes", &Datatype::bytes);
    nb::class_<Operator>(module, "Operator")
        .def_ro("name", &Operator::name)
        .def_ro("commutative", &Operator::commutative);
}

int end_from(std::string_view name) {
    for (int end = HOCKET_TRACE_END_FINALIZE; end <= HOCKET_TRACE_END_LIMIT; ++end)
        if (name == end_name(end)) return end;
    if (name == end_name(-1)) return -1;
    throw hocket::InvalidInput("the end of a recording is \"" + std::string(name) + "\"",
                               "accepted: finalize, exit, abort, limit, cut off");
}

using NeighbourLists = std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>;  // sources, destinations

template <class Row>
std::vector<Row> rows_from(const ByteRows& bytes) {
    std::vector<Row> rows(bytes.size() / sizeof(Row));
    if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(Row));
    return rows;
}

void bind_rank_file(nb::module_& module) {
    using hocket::trace::Call;
    using hocket::trace::Completion;
    using hocket::trace::LocalCommunicator;
    using hocket::trace::RankFile;
    nb::class_<LocalCommunicator>(module, "LocalCommunicator", "A communicator as one rank saw it made.")
        .def(
            "__init__",
            [](LocalCommunicator* self, std::int32_t made_by, std::int32_t parent, bool inter, std::int32_t rank,
               std::vector<std::int32_t> members, std::vector<std::int32_t> remote,
               std::optional<NeighbourLists> neighbours) {
                new (self) LocalCommunicator{made_by, parent, inter, rank, std::move(members), std::move(remote), {}};
                if (neighbours) self->neighbours = {std::move(neighbours->first), std::move(neighbours->second)};
            },
            "made_by"_a, "parent"_a, "inter"_a, "rank"_a, "members"_a, "remote"_a, "neighbours"_a.none());
    nb::class_<RankFile>(module, "RankFile",
                         "What one rank did, with tables of its own; see hocket.traces.traced_rank.")
        .def(
            "__init__",
            [](RankFile* self, std::int32_t rank, std::int32_t num_ranks, std::string host, std::string_view end,
               std::vector<std::string> functions, std::vector<LocalCommunicator> communicators,
               const std::vector<std::pair<std::string, std::int64_t>>& datatypes,
               const std::vector<std::pair<std::string, bool>>& operators, const ByteRows& calls,
               const ByteRows& completions, const IntegerRow& blocks) {
                auto* file = new (self) RankFile{};
                file->rank = rank;
                file->num_ranks = num_ranks;
                file->host = std::move(host);
                file->end = end_from(end);
                file->functions = std::move(functions);
                file->communicators = std::move(communicators);
                for (const auto& [name, bytes] : datatypes) file->datatypes.push_back({name, bytes});
                for (const auto& [name, commutative] : operators) file->operators.push_back({name, commutative});
                file->calls = rows_from<Call>(calls);
                file->completions = rows_from<Completion>(completions);
                file->blocks.assign(blocks.data(), blocks.data() + blocks.size());
            },
            nb::kw_only(), "rank"_a, "num_ranks"_a, "host"_a, "end"_a, "functions"_a, "communicators"_a, "datatypes"_a,
            "operators"_a, "calls"_a, "completions"_a, "blocks"_a);
}

void bind_collective(nb::module_& module) {
    using hocket::trace::Collective;
    nb::class_<Collective>(module, "TracedCollective", "A collective call, matched over the ranks of its communicator.")
        .def_ro("collective", &Collective::collective)
        .def_prop_ro(
            "form", [](const Collective& row) { return print_form(row.form); }, "blocking, nonblocking or persistent")
        .def_ro("communicator", &Collective::communicator)
        .def_ro("bytes", &Collective::bytes,
                "As in lower(): the message, or the block of one rank; the most of any rank.")
        .def_ro("mean_bytes", &Collective::mean_bytes,
                "Of a v-variant: what a rank contributes on average, rounded up; else as bytes.")
        .def_ro("uniform", &Collective::uniform, "All ranks gave the same bytes; never so for a v-variant.")
        .def_ro("root", &Collective::root, "Rank in the communicator; -1: none.")
        .def_ro("op", &Collective::op)
        .def_ro("datatype", &Collective::datatype)
        .def_ro("in_place", &Collective::in_place)
        .def_ro("first_enter_ns", &Collective::first_enter_ns)
        .def_ro("last_enter_ns", &Collective::last_enter_ns)
        .def_ro("last_exit_ns", &Collective::last_exit_ns)
        .def_prop_ro(
            "enter_ns", [](const Collective& row) { return integers_of(row.enter_ns, nb::find(row)); },
            "By rank in the communicator.")
        .def_prop_ro(
            "exit_ns", [](const Collective& row) { return integers_of(row.exit_ns, nb::find(row)); },
            "By rank in the communicator.");
}

}  // namespace

void bind_trace(nb::module_& module) {
    bind_tables(module);
    bind_collective(module);
    bind_rank_file(module);
    module.def("trace_call_fields", &call_fields,
               "Name, numpy format and offset of each field of a call; size of a call.");
    module.def("trace_completion_fields", &completion_fields);
    module.def(
        "collective_of", [](std::string_view name) { return hocket::trace::collective_of(name).collective; },
        "function"_a, "\"bcast\" for MPI_Bcast, MPI_Ibcast, ...; empty if the function is not a collective.");
    nb::class_<Trace>(module, "Trace", "What each rank of a real program did; see hocket.traces.trace.")
        .def_static("open", &Trace::open, "folder"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_static("make", &Trace::make, "ranks"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("write", &Trace::write, "folder"_a, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "__eq__", [](const Trace& a, const Trace& b) { return a == b; }, nb::is_operator())
        .def_prop_ro("num_ranks", &Trace::num_ranks)
        .def(
            "neighbours",
            [](const Trace& trace, std::int32_t rank, std::int32_t communicator) -> std::optional<NeighbourLists> {
                rank_of(trace, rank);
                const auto* found = trace.neighbours(rank, communicator);
                if (found == nullptr) return std::nullopt;
                return NeighbourLists{found->sources, found->destinations};
            },
            "rank"_a, "communicator"_a)
        .def(
            "complete",
            [](const Trace& trace, std::int32_t rank) { return rank_of(trace, rank).end == HOCKET_TRACE_END_FINALIZE; },
            "rank"_a)
        .def(
            "end", [](const Trace& trace, std::int32_t rank) { return end_name(rank_of(trace, rank).end); }, "rank"_a)
        .def(
            "host", [](const Trace& trace, std::int32_t rank) { return text(rank_of(trace, rank).host); }, "rank"_a)
        .def(
            "open_call", [](const Trace& trace, std::int32_t rank) { return rank_of(trace, rank).open_function; },
            "rank"_a, "Function that the main thread was in when recording was cut off; -1: none.")
        .def_prop_ro("functions", [](const Trace& trace) { return bindings::texts(trace.functions()); })
        .def_prop_ro("datatypes", &Trace::datatypes)
        .def_prop_ro("operators", &Trace::operators)
        .def_prop_ro("communicators", &Trace::communicators)
        .def(
            "call_rows",
            [](const Trace& trace, std::int32_t rank) { return rows_of(rank_of(trace, rank).calls, nb::find(trace)); },
            "rank"_a)
        .def(
            "completion_rows",
            [](const Trace& trace, std::int32_t rank) {
                return rows_of(rank_of(trace, rank).completions, nb::find(trace));
            },
            "rank"_a)
        .def(
            "blocks",
            [](const Trace& trace, std::int32_t rank) {
                return integers_of(rank_of(trace, rank).blocks, nb::find(trace));
            },
            "rank"_a)
        .def("collectives", [](const Trace& trace) {
            nb::gil_scoped_release release;
            return hocket::trace::collectives(trace);
        });
}
