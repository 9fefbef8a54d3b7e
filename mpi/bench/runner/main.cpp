// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket-bench: measures MPI functions as a suite file asks. See `usage` in options.cpp.

#include <mpi.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "bench/items/registry.hpp"
#include "bench/runner/exit_status.hpp"
#include "bench/runner/options.hpp"
#include "bench/runner/room.hpp"
#include "bench/runner/session.hpp"
#include "common/errors.hpp"
#include "common/mpi_calls.hpp"

namespace {

using namespace hocket;
using namespace hocket::bench;

/// Read on rank 0: the others may be on hosts that do not have it.
std::string read_everywhere(const std::string& path, int rank) {
    std::string text;
    long long length = -1;
    if (rank == 0) {
        std::ifstream stream(path, std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(stream), {});
        if (stream.good() || stream.eof()) length = static_cast<long long>(text.size());
    }
    require(PMPI_Bcast(&length, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD), "MPI_Bcast");
    if (length < 0) throw InvalidInput(path + ": cannot be read", "name a suite file");
    text.resize(static_cast<std::size_t>(length));
    require(PMPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return text;
}

/// Differs where results may not stand in one file: the hash FNV-1a of the suite, what changes its points, and the MPI.
std::string key_of(const std::string& text, const Options& options, int ranks) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
    int length = 0;
    PMPI_Get_library_version(library.data(), &length);
    std::uint64_t key = 0xcbf29ce484222325U;
    for (const char c : text + (options.is_quick ? "quick" : "full") + std::to_string(ranks) + library.data()) {
        key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(key));
    return digits;
}

void list_items() {
    for (const Item& item : items()) {
        std::printf("%-28s %s\n", item.name.c_str(), item.what.c_str());
        for (const Option& option : item.options) {
            std::printf("%-28s   %s: %s (%s)\n", "", std::string(option.name).c_str(),
                        option.accepted.empty() ? "a number" : std::string(option.accepted).c_str(),
                        std::string(option.initial).c_str());
        }
    }
}

void list_items_as_json() {
    base::JsonWriter json;
    json.begin_object(base::JsonWriter::Layout::lines);
    json.key("items").begin_list(base::JsonWriter::Layout::lines);
    for (const Item& item : items()) {
        json.begin_object();
        json.field("item", item.name);
        json.field("measures", item.what);
        json.field("has_bytes", item.has_bytes());
        json.field("least_ranks", item.min_ranks);
        json.key("options").begin_list();
        for (const Option& option : item.options) {
            json.begin_object();
            json.field("name", option.name);
            json.field("accepted", option.accepted);
            json.field("usual", option.initial);
            json.end_object();
        }
        json.end_list();
        json.end_object();
    }
    json.end_list();
    json.end_object();
    std::puts(json.text().c_str());
}

void print_plan(const Suite& suite, int ranks) {
    const Plan plan = make_plan(suite, ranks);
    base::JsonWriter json;
    json.begin_object(base::JsonWriter::Layout::lines);
    json.field("suite", suite.name);
    json.field("seed", suite.seed);
    json.field("launches", suite.extent.launches);
    json.field("most_launches", suite.extent.most_launches);
    json.field("rounds", suite.extent.rounds);
    json.field("samples", suite.extent.samples);
    json.field("visits", plan.points.size() * static_cast<std::size_t>(suite.extent.launches) *
                             static_cast<std::size_t>(suite.extent.rounds));
    json.field("budget_s", suite.extent.budget_s);
    json.key("points").begin_list(base::JsonWriter::Layout::lines);
    for (const Point& point : plan.points) {
        json.begin_object();
        write_fields(json, point);
        json.field("obstacle", plan.variants[static_cast<std::size_t>(point.variant)].obstacle);
        json.end_object();
    }
    json.end_list();
    json.end_object();
    std::puts(json.text().c_str());
}

/// What only some ranks may be unable to do is refused by all, with the words of the first of them.
template <class Function>
void together(int rank, int ranks, const Function& function) {
    std::array<std::string, 2> words;
    int own = ranks, first = ranks;
    try {
        function();
    } catch (const InvalidInput& error) {
        own = rank;
        words = {error.what(), error.hint()};
    }
    require(PMPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    if (first == ranks) return;
    for (std::string& text : words) {
        int length = static_cast<int>(text.size());
        require(PMPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD), "MPI_Bcast");
        text.resize(static_cast<std::size_t>(length));
        require(PMPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD), "MPI_Bcast");
    }
    throw InvalidInput(words[0], words[1]);
}

int run(int argc, char** argv, int rank) {
    Options options = read_options(argc, argv);
    if (options.helps || options.lists_items) {
        if (rank == 0 && options.helps) std::fputs(usage, stdout);
        if (rank == 0 && options.lists_items) options.lists_as_json ? list_items_as_json() : list_items();
        return exit_done;
    }
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string text = read_everywhere(options.suite, rank);
    Suite suite;
    // A plug-in may not be there on every host.
    together(rank, ranks, [&] { suite = read_suite(text, options.suite, options.is_quick); });
    if (options.launches) suite.extent.launches = suite.extent.most_launches = *options.launches;
    if (options.rounds) {
        suite.extent.rounds = *options.rounds;
        suite.extent.adds_rounds = false;
    }
    if (options.budget_s) suite.extent.budget_s = *options.budget_s;
    if (options.is_dry) {
        if (rank == 0) print_plan(suite, ranks);
        return exit_done;
    }
    if (options.output.empty()) options.output = suite.name + ".jsonl";
    together(rank, ranks, [&] { check_room(make_plan(suite, ranks), options.folder, rank); });
    try {
        return Session(std::move(suite), options, key_of(text, options, ranks)).run();
    } catch (const Error& error) {  // on this rank: the others may wait for it
        print_error(error);
        abort_all(dynamic_cast<const InvalidInput*>(&error) != nullptr ? exit_invalid : exit_failed);
        throw;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return exit_failed;
    const int status = run_reporting_errors([&](int rank) { return run(argc, argv, rank); }, exit_invalid);
    MPI_Finalize();
    return status;
}
