// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/options.hpp"

#include "common/options.hpp"

namespace hocket::bench {

const char* const usage =
    "usage: mpiexec -n N hocket-bench [OPTION]... SUITE.toml\n"
    "Measures what a suite names (format hocket.suite/1) and appends each finished step to a file of results\n"
    "(hocket.bench/1, JSON Lines). Exit status 75: the same command goes on from there, with the next launch or after "
    "an\n"
    "item that ended the program. Status 0: all is measured.\n"
    "  -o FILE          the results (default: the suite's name with .jsonl, in the current folder)\n"
    "  --folder FOLDER  for the files that items read and write (default: where the results are)\n"
    "  --known FILE     take what this MPI can do from the outcomes in an earlier file of results\n"
    "  --beside FILE    results of this suite by another command: samples of as many runs as there; several times\n"
    "  --quick          as the table [quick] of the suite has it\n"
    "  --launches N     instead of the suite's, and no further ones for points that are not known well\n"
    "  --rounds N       instead of the suite's, and no further ones for points that are not known well\n"
    "  --budget S       seconds for all launches, instead of the suite's\n"
    "  --timeout S      an item that shows no life for so long has hung (default 20)\n"
    "  --dry-run        print the points, as JSON\n"
    "  --list           print all items\n"
    "  --list-json      the same as JSON\n"
    "  --quiet          no progress and no table\n"
    "Example: mpiexec -n 2 hocket-bench --quick mbl2-rma.toml\n";

namespace {

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&]() -> const char* {
            if (i + 1 == argc) throw InvalidInput("option " + word + " needs a value");
            return argv[++i];
        };
        if (word == "-h" || word == "--help") {
            options.helps = true;
        } else if (word == "--quick") {
            options.is_quick = true;
        } else if (word == "--dry-run") {
            options.is_dry = true;
        } else if (word == "--list") {
            options.lists_items = true;
        } else if (word == "--list-json") {
            options.lists_items = options.lists_as_json = true;
        } else if (word == "--quiet") {
            options.is_quiet = true;
        } else if (word == "-o") {
            options.output = value();
        } else if (word == "--folder") {
            options.folder = value();
        } else if (word == "--known") {
            options.known = value();
        } else if (word == "--beside") {
            options.beside.emplace_back(value());
        } else if (word == "--launches") {
            options.launches = number_of<int>(word, value());
        } else if (word == "--rounds") {
            options.rounds = number_of<int>(word, value());
        } else if (word == "--budget") {
            options.budget_s = number_of<double>(word, value());
        } else if (word == "--timeout") {
            options.timeout_s = number_of<double>(word, value());
        } else if (word.starts_with('-')) {
            throw InvalidInput("unknown option " + word, "hocket-bench --help lists them");
        } else if (!options.suite.empty()) {
            throw InvalidInput("two suites: " + options.suite + " and " + word);
        } else {
            options.suite = word;
        }
    }
    if (options.helps || options.lists_items) return options;
    if (options.suite.empty()) throw InvalidInput("no suite is named", "hocket-bench --help shows an example");
    if (options.folder.empty()) options.folder = folder_of(options.output);
    return options;
}

}  // namespace hocket::bench
