// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/overlap_options.hpp"

#include "common/options.hpp"

namespace hocket::probes {

const char* const overlap_usage =
    "usage: hocket-overlap [OPTION VALUE]...\n"
    "  --collective NAME   (default alltoall)\n"
    "  --bytes N           of one block, as MPI counts: of alltoall what goes to each other rank (default 1000000)\n"
    "  --in-flight K       collectives at once (default 1)\n"
    "  --compute MODEL     free-core: naps that stand for cores of its own; real: a matrix-vector product\n"
    "  --ratio R           computation that takes R times as long as the MPI's own collectives (default 1)\n"
    "  --algorithm NAME    of the schedules (default linear), cut into\n"
    "  --segments P          (default 1)\n"
    "  --core CORE         of an engine's thread: any, idle or a number (default any)\n"
    "  --modes A,B,...     only these, and MPI (default all)\n"
    "  --repetitions N     measurements of each (default 5)\n"
    "  --seconds S         after three measurements, start no more after S seconds (default 30)\n";

namespace {

int core_of(const std::string& text) {
    if (text == "any") return -1;
    if (text == "idle") return -2;
    if (text == "0") return 0;
    try {
        return number_of<int>("--core", text.c_str());
    } catch (const InvalidInput&) {
        throw InvalidInput("--core is \"" + text + "\"; accepted: any, idle, the number of a core");
    }
}

}  // namespace

OverlapOptions read_overlap_options(int argc, char** argv) {
    OverlapOptions options;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (i + 1 == argc) throw InvalidInput("option " + option + " needs a value");
        const char* const value = argv[i + 1];
        if (option == "--collective") {
            options.collective = collective_from(value);
        } else if (option == "--bytes") {
            options.bytes = number_of<std::int64_t>(option, value);
        } else if (option == "--in-flight") {
            options.in_flight = number_of<int>(option, value);
        } else if (option == "--compute") {
            options.compute = value;
        } else if (option == "--ratio") {
            options.ratio = number_of<double>(option, value);
        } else if (option == "--algorithm") {
            options.algorithm = value;
        } else if (option == "--segments" || option == "--pieces") {
            options.segments = number_of<int>(option, value);
        } else if (option == "--core") {
            options.core = core_of(value);
        } else if (option == "--modes") {
            options.modes = modes_in(value);
        } else if (option == "--repetitions") {
            options.repetitions = number_of<int>(option, value);
        } else if (option == "--seconds") {
            options.seconds = number_of<double>(option, value);
        } else {
            throw InvalidInput("unknown option " + option, "hocket-overlap --help lists them");
        }
    }
    if (options.collective == Collective::barrier) options.bytes = 0;
    return options;
}

}  // namespace hocket::probes
