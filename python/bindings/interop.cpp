// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hocket/interop/chakra.hpp"
#include "hocket/interop/dumpi.hpp"
#include "hocket/interop/liballprof.hpp"
#include "hocket/interop/simgrid_ti.hpp"
#include "hocket/program/goal_binary.hpp"
#include "hocket/trace/trace.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Trace;
using hocket::interop::ForeignTrace;
using hocket::interop::Source;

namespace {

using Files = std::vector<std::pair<std::string, nb::bytes>>;  // name, content
using Notes = std::vector<std::string>;

/// Runs `read` on views of the files without the interpreter's lock; the bytes stay where they are.
std::vector<Source> sources_of(const Files& files) {
    std::vector<Source> sources;
    sources.reserve(files.size());
    for (const auto& [name, bytes] : files) sources.push_back({name, {bytes.c_str(), bytes.size()}});
    return sources;
}

template <class Read>
std::pair<Trace, Notes> read_with(const Files& files, Read read) {
    const std::vector<Source> sources = sources_of(files);
    const nb::gil_scoped_release release;
    ForeignTrace found = read(sources);
    return {Trace::make(found.ranks), std::move(found.notes)};
}

}  // namespace

void bind_interop(nb::module_& module) {
    module.def(
        "read_dumpi",
        [](const Files& files, bool align) {
            return read_with(files, [&](const auto& sources) { return hocket::interop::read_dumpi(sources, align); });
        },
        "files"_a, "align"_a,
        "Traces of sst-dumpi: name and content of one file a rank. The trace, and notes on what was left out.");
    module.def(
        "read_liballprof",
        [](const Files& files, bool align) {
            return read_with(files,
                             [&](const auto& sources) { return hocket::interop::read_liballprof(sources, align); });
        },
        "files"_a, "align"_a, "Traces of liballprof, likewise.");
    module.def(
        "read_simgrid_ti",
        [](const Files& files, double flops_per_s) {
            return read_with(
                files, [&](const auto& sources) { return hocket::interop::read_simgrid_ti(sources, flops_per_s); });
        },
        "files"_a, "flops_per_s"_a, "Time-independent traces of SimGrid, likewise; a file may have several ranks.");
    module.def(
        "read_chakra",
        [](const Files& files) {
            const std::vector<Source> sources = sources_of(files);
            const nb::gil_scoped_release release;
            auto found = hocket::interop::read_chakra(sources);
            return std::pair{std::move(found.program), std::move(found.notes)};
        },
        "files"_a, "Execution traces of Chakra: name and content of one file a rank. The Program, and notes.");
    module.def(
        "is_chakra", [](const nb::bytes& bytes) { return hocket::interop::is_chakra({bytes.c_str(), bytes.size()}); },
        "start"_a, "Whether a file that is this long, or begins so, may be an execution trace of Chakra.");
    module.def(
        "to_chakra",
        [](const hocket::Program& program) {
            nb::list files;
            for (const std::string& file : hocket::interop::to_chakra(program))
                files.append(nb::bytes(file.data(), file.size()));
            return files;
        },
        "program"_a, "The execution trace of each rank.");
    module.def(
        "program_from_goal_binary",
        [](const nb::bytes& bytes, const std::string& source_name) {
            const std::string_view text(bytes.c_str(), bytes.size());
            const nb::gil_scoped_release release;
            return hocket::program_from_goal_binary(text, source_name);
        },
        "bytes"_a, "source_name"_a = "program", "Reads what LogGOPSim's txt2bin makes of GOAL text.");
    module.def(
        "to_goal_binary",
        [](const hocket::Program& program, double reduce_bytes_per_s) {
            const std::string bytes = hocket::to_goal_binary(program, reduce_bytes_per_s);
            return nb::bytes(bytes.data(), bytes.size());
        },
        "program"_a, "reduce_bytes_per_s"_a, "What LogGOPSim runs.");
}
