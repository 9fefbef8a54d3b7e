// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// hocket-compare: for each entry of a plan, runs the MPI's own collective and the entry's schedule in turn, checks that
// both leave the same data, and prints one JSON object on rank 0. The schedule is run as a rerouted call of a program,
// so that its time has all that a program pays, but for the self-check.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/common_start.hpp"
#include "common/errors.hpp"
#include "common/options.hpp"
#include "hocket/base/error.hpp"
#include "hocket/base/json_writer.hpp"
#include "hocket/plan/file.hpp"
#include "interpose/blocking/reroute.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/session.hpp"
#include "interpose/settings.hpp"
#include "probes/measuring.hpp"
#include "probes/shared_cores.hpp"
#include "probes/workload.hpp"

namespace {

using namespace hocket;
using interpose::session;
using probes::require, probes::wait_aside;

constexpr const char* usage =
    "usage: hocket-compare --plan FILE [--repetitions N] [--seconds S] [--least N] [--within S] [--only schedules]\n"
    "  --plan FILE        a plan, whose entries may serve the same calls; read by rank 0\n"
    "  --repetitions N    measurements of each entry and kind (default 20), of short calls up to 20 N within half a "
    "second;\n"
    "                     one is the median of up to 16 calls in a row that take 15 ms\n"
    "  --seconds S        start no more measurements of an entry after S seconds (default 10), but for the least\n"
    "  --least N          measurements that each entry gets (default 3)\n"
    "  --within S         of all entries: each may take its share of the seconds that are left; once none are left,\n"
    "                     entries stay without times\n"
    "  --only schedules   do not call the MPI's own collectives; no data are compared\n";

// The scheduler of the system decides what one short call takes: only many show it.
constexpr int short_call_factor = 20;
constexpr double short_calls_s = 0.5;
constexpr std::size_t most_in_a_row = 16;
constexpr double row_s = 15e-3;
constexpr long settle_ns = 1'000'000;
constexpr int most_starts = 4;

struct Options {
    std::string plan;
    int repetitions = 20;
    double seconds = 10;
    int least = 3;
    double within = std::numeric_limits<double>::infinity();
    bool only_schedules = false;
};

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (i + 1 == argc) throw InvalidInput("option " + option + " needs a value");
        if (option == "--plan") {
            options.plan = argv[i + 1];
        } else if (option == "--repetitions") {
            options.repetitions = number_of<int>(option, argv[i + 1]);
        } else if (option == "--seconds") {
            options.seconds = number_of<double>(option, argv[i + 1]);
        } else if (option == "--least") {
            options.least = number_of<int>(option, argv[i + 1]);
        } else if (option == "--within") {
            options.within = number_of<double>(option, argv[i + 1]);
        } else if (option == "--only") {
            if (argv[i + 1] != std::string("schedules")) {
                throw InvalidInput("--only is \"" + std::string(argv[i + 1]) + "\"; accepted: schedules");
            }
            options.only_schedules = true;
        } else {
            throw InvalidInput("unknown option " + option,
                               "options: --plan, --repetitions, --seconds, --least, --within, --only");
        }
    }
    if (options.plan.empty()) throw InvalidInput("no plan given", "name it with --plan FILE");
    return options;
}

/// The plan as rank 0 reads it, on all ranks.
/// @throws InvalidInput  on all ranks alike
std::string shared_plan(const std::string& path, int world_rank) {
    std::string text;
    int read = 1;
    if (world_rank == 0) {
        try {
            text = read_plan_file(path);
        } catch (const InvalidInput& error) {
            text = error.what();
            read = 0;
        }
    }
    auto length = static_cast<int>(text.size());
    PMPI_Bcast(&read, 1, MPI_INT, 0, MPI_COMM_WORLD);
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (read == 0) throw InvalidInput(text, "write one with `hocket advise`");
    return text;
}

/// What an entry is measured with: its largest message, but an open-ended range must not fill the memory.
std::int64_t measured_bytes(const PlanEntry& entry) {
    return std::min(entry.bytes_max, std::max(entry.bytes_min, std::int64_t{64} << 20));
}

/// An entry on the communicator that it serves; lives on members only.
class Comparison {
public:
    /// The session is on, with a plan of this entry alone.
    Comparison(const PlanEntry& entry, MPI_Comm comm)
        : entry_(entry), comm_(comm), role_(role_of(entry, comm)), start_(comm) {}

    bool equal(std::int64_t bytes) {
        probes::Workload native(role_, bytes, 1), tuned(role_, bytes, 1);
        native.refill();
        tuned.refill();
        require(native.call_native(comm_), "the MPI's collective");
        require(call_rerouted(tuned), "the schedule");
        int same = native.received() == tuned.received() ? 1 : 0, all = 0;
        PMPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, comm_);
        return all != 0;
    }

    /// Begins no measurement, but for the least, once `seconds` have passed.
    void measure(const Options& options, double seconds, std::vector<double>& native_s, std::vector<double>& tuned_s) {
        probes::Workload workload(role_, measured_bytes(entry_), 2);
        workload.refill();
        const auto native = [&] { return workload.call_native(comm_); };
        const auto tuned = [&] { return call_rerouted(workload); };
        // Long calls are warm from `equal`, and little time is for measuring.
        for (int i = 0; i < 3 && goes_on(age_s() < std::min(seconds / 4, short_calls_s)); ++i) {
            if (!options.only_schedules) time_of(native);
            time_of(tuned);
        }
        const double begin_s = std::isfinite(options.within) ? made_s_ : now_s();
        for (int i = 0; i < short_call_factor * options.repetitions; ++i) {
            const double limit_s = i < options.repetitions ? seconds : std::min(seconds, short_calls_s);
            if (!goes_on(now_s() - begin_s < limit_s || i < std::min(options.least, options.repetitions))) break;
            // Each goes first half of the time, since what runs before leaves its mark on queues and caches.
            if (i % 2 == 0 && !options.only_schedules) native_s.push_back(time_in_a_row(native));
            tuned_s.push_back(time_in_a_row(tuned));
            if (i % 2 != 0 && !options.only_schedules) native_s.push_back(time_in_a_row(native));
        }
    }

    /// Whether it has taken less than that so far. Collective.
    bool is_within(double seconds) { return goes_on(age_s() < seconds); }

    /// Calls by the schedule so far.
    [[nodiscard]] std::int64_t num_rerouted() const { return num_rerouted_; }

private:
    int call_rerouted(probes::Workload& workload) {
        const auto native = [&] { return workload.call_native(comm_); };
        const int code = interpose::reroute({role_.collective, workload.arguments(), role_.root.value, comm_}, native);
        if (interpose::entry_counts[0].rerouted != ++num_rerouted_)
            throw Error("a call was left to the MPI's own function");
        return code;
    }

    static runtime::Role role_of(const PlanEntry& entry, MPI_Comm comm) {
        int rank = 0;
        PMPI_Comm_rank(comm, &rank);
        const std::int32_t segments =
            schedule_segments(entry.schedule, segments_of(entry.schedule, measured_bytes(entry)));
        return {entry.collective, entry.num_ranks(), entry.root.value_or(Rank{0}), Rank{rank}, segments};
    }

    [[nodiscard]] double age_s() const { return now_s() - made_s_; }

    /// What rank 0 decides.
    bool goes_on(bool go_on) {
        int word = go_on ? 1 : 0;
        PMPI_Bcast(&word, 1, MPI_INT, 0, comm_);
        return word != 0;
    }

    /// The median of short calls in a row; a long one alone. On a host with more ranks than cores the scheduler of the
    /// system has to even out what ranks that spun before, in the other kind of call, have had too much: for
    /// milliseconds calls take five times as long. All ranks know the same times, so that they stop together.
    template <class Run>
    double time_in_a_row(const Run& run) {
        const timespec nap{0, settle_ns};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
        std::vector<double> times;
        double sum_s = 0;
        while (times.size() < most_in_a_row && sum_s < row_s) {
            times.push_back(time_of(run));
            sum_s += times.back();
        }
        std::sort(times.begin(), times.end());
        return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
    }

    /// From a common start until the last rank is done; again if a rank has missed the start, but not for ever.
    template <class Run>
    double time_of(const Run& run) {
        for (int i = 1;; ++i) {
            const double begin_s = start_.wait();
            require(run(), "a collective");
            const auto [longest_s, together] = start_.time(now_s() - begin_s);
            if (together || i == most_starts) return longest_s;
        }
    }

    const PlanEntry& entry_;
    MPI_Comm comm_;
    runtime::Role role_;
    CommonStart start_;
    std::int64_t num_rerouted_ = 0;
    const double made_s_ = now_s();
};

/// Writes one entry of the output, measured for about `seconds`; not at all where these are 0 or less. Collective over
/// the world; the first member's answer reaches rank 0.
void compare(base::JsonWriter& json, const PlanEntry& entry, const Options& options, double seconds, int tag,
             int world_rank) {
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Group world = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_incl(world, entry.num_ranks(), entry.members.data(), &members);
    const bool is_member = std::find(entry.members.begin(), entry.members.end(), world_rank) != entry.members.end();
    std::vector<double> native_s, tuned_s;
    int equal = 0, num_rerouted = 0;
    if (is_member && seconds > 0) {
        MPI_Comm comm = MPI_COMM_NULL;
        require(PMPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &comm), "MPI_Comm_create_group");
        session.use(Plan(world_size, {}, {entry}));
        Comparison comparison(entry, comm);
        const std::int64_t most = measured_bytes(entry);
        const bool compares = !options.only_schedules;
        const bool at_least = !compares || entry.bytes_min == most || comparison.equal(entry.bytes_min);
        const bool at_most = !compares || comparison.equal(most);
        comparison.measure(options, seconds, native_s, tuned_s);
        const bool again = compares && (!std::isfinite(options.within) || comparison.is_within(seconds));
        equal = at_least && at_most && (!again || comparison.equal(most)) ? 1 : 0;
        num_rerouted = static_cast<int>(comparison.num_rerouted());
        PMPI_Comm_free(&comm);
        session.stop();
    }
    PMPI_Group_free(&world);
    PMPI_Group_free(&members);

    const int first = entry.members.front();
    if (first != 0) {
        int counts[4] = {static_cast<int>(native_s.size()), static_cast<int>(tuned_s.size()), equal, num_rerouted};
        if (world_rank == first) {
            PMPI_Send(counts, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
            PMPI_Send(native_s.data(), counts[0], MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            PMPI_Send(tuned_s.data(), counts[1], MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        } else if (world_rank == 0) {
            PMPI_Recv(counts, 4, MPI_INT, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            native_s.resize(static_cast<std::size_t>(counts[0]));
            tuned_s.resize(static_cast<std::size_t>(counts[1]));
            equal = counts[2];
            num_rerouted = counts[3];
            PMPI_Recv(native_s.data(), counts[0], MPI_DOUBLE, first, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            PMPI_Recv(tuned_s.data(), counts[1], MPI_DOUBLE, first, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    PMPI_Barrier(MPI_COMM_WORLD);  // the next entry has the network for itself
    json.begin_object();
    json.field("collective", name_of(entry.collective));
    json.field("members", entry.members);
    json.field("bytes", measured_bytes(entry));
    json.field("root", entry.root.value_or(Rank{0}).value);
    json.field("description", describe(entry));
    json.field("native_s", native_s);
    json.field("tuned_s", tuned_s);
    json.field("rerouted_calls", num_rerouted);
    json.field("equal", options.only_schedules || seconds <= 0 ? std::nullopt : std::optional(equal != 0));
    json.end_object();
}

int run(int argc, char** argv, int world_rank) {
    const Options options = read_options(argc, argv);
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const Candidates plan = candidates_from_json(shared_plan(options.plan, world_rank), options.plan);
    require_ranks_of_program(plan.ranks, world_size, options.plan);
    interpose::settings.checks_itself = false;  // a program pays for it by less than a hundredth
    const std::string shared = probes::shared_cores(MPI_COMM_WORLD);
    base::JsonWriter entries;
    entries.begin_list(base::JsonWriter::Layout::lines);
    const double begin_s = now_s();
    for (std::size_t i = 0; i < plan.entries.size(); ++i) {
        const double left_s = options.within - (now_s() - begin_s);
        double seconds = std::min(options.seconds, left_s / static_cast<double>(plan.entries.size() - i));
        PMPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        compare(entries, plan.entries[i], options, seconds, static_cast<int>(i % 1024), world_rank);
    }
    entries.end_list();
    if (world_rank != 0) return 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    base::JsonWriter json;
    json.begin_object();
    json.field("format", "hocket.comparison/1");
    json.field("mpi", std::string_view(version, strcspn(version, "\n")));
    json.field("ranks", world_size);
    json.key("shared_cores").raw(shared);
    json.field("seconds", now_s() - begin_s);
    json.key("entries").raw(entries.text());
    json.end_object();
    std::puts(json.text().c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (PMPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    const int status = run_reporting_errors([&](int rank) { return run(argc, argv, rank); });
    PMPI_Finalize();
    return status;
}
