// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "bench/runner/exit_status.hpp"
#include "bench/runner/machine.hpp"
#include "common/clock.hpp"
#include "common/mpi_calls.hpp"

namespace hocket::bench {

namespace {

constexpr std::int64_t most_rounds_factor = 5;  // rounds of points that are not known well, for each of the suite's
constexpr double between_progress_s = 5;

int world_rank() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int world_size() {
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

ChunkMedians by_launch(const std::map<int, std::vector<double>>& medians) {
    ChunkMedians launches;
    for (const auto& [launch, chunks] : medians) launches.push_back(chunks);
    return launches;
}

}  // namespace

Session::Session(Suite suite, const Options& options, const std::string& key)
    : begin_s_(now_s()),
      suite_(std::move(suite)),
      options_(options),
      key_(key),
      rank_(world_rank()),
      ranks_(world_size()),
      plan_(make_plan(suite_, ranks_)),
      journal_(options.output, rank_ == 0),
      watchdog_(journal_.file(), rank_ == 0 ? options.timeout_s : 0),
      visitor_(
          watchdog_,
          [this](const Failure& failure) {
              record_failure(current_, failure);
              _exit(exit_again);
          },
          options.folder),
      outcomes_(journal_.history().outcomes),
      medians_(journal_.history().medians),
      runs_(journal_.history().runs) {
    std::set<int> counts;
    for (const Point& point : plan_.points) {
        if (point.ranks <= ranks_) counts.insert(point.ranks);
    }
    for (const int count : counts) teams_[count] = Team::make(count, suite_.extent.agrees);
}

int Session::run() {
    // Some items use MPI_COMM_SELF; what has no communicator, as a list of requests, fails on MPI_COMM_WORLD.
    for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int status = exit_done;
    if (rank_ == 0) {
        status = direct() ? exit_again : exit_done;
    } else {
        write_header(0);
        follow();
    }
    require(PMPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return status;
}

bool Session::direct() {
    const History& history = journal_.history();
    const int launch = history.ended.empty() ? 1 : *history.ended.rbegin() + 1;
    write_header(launch);
    if (are_enough(history.ended.size())) {
        carry_out({});
        if (!options_.is_quiet) print_table();
        return false;
    }
    for (const Attempt& attempt : history.unfinished) {
        if (outcomes_.contains(attempt)) continue;
        record_failure(attempt, Failure(Status::crash, "the program ended twice while it was under way"));
    }
    take_known();
    take_runs();
    probe_all();
    visit_all(launch);
    journal_.append(launch_end_line(launch));
    carry_out({});
    if (!options_.is_quiet) print_table();
    return !are_enough(history.ended.size() + 1);
}

void Session::take_known() {
    if (options_.known.empty()) return;
    std::size_t bytes = 0;
    const History known = read_history(options_.known, bytes);
    for (const Variant& variant : plan_.variants) {
        const Attempt attempt{variant.name, {}};
        const auto found = known.outcomes.find(attempt);
        if (found == known.outcomes.end() || outcomes_.contains(attempt)) continue;
        outcomes_[attempt] = found->second;
        journal_.append(outcome_line(attempt, found->second.first.c_str(), found->second.second));
    }
}

/// Those of other commands too: times of samples of few runs and of many do not compare.
void Session::take_runs() {
    for (const std::string& path : options_.beside) {
        std::size_t bytes = 0;
        for (const auto& [point, runs] : read_history(path, bytes).runs) runs_[point] = std::max(runs_[point], runs);
    }
}

void Session::follow() {
    for (;;) {
        Command command;
        MPI_Request request = MPI_REQUEST_NULL;
        require(PMPI_Ibcast(&command, sizeof command, MPI_BYTE, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
        wait_aside(request);
        if (command.kind == Kind::end) return;
        carry_out(command);
    }
}

void Session::probe_all() {
    for (std::size_t i = 0; i < plan_.variants.size(); ++i) {
        const Variant& variant = plan_.variants[i];
        const Attempt attempt{variant.name, {}};
        if (outcomes_.contains(attempt)) continue;
        if (!variant.obstacle.empty()) {
            record_failure(attempt, Failure(Status::unsupported, variant.obstacle));
            continue;
        }
        progress("trying " + variant.name);
        const bool is_ok = carry_out({Kind::probe, static_cast<int>(i), 0, 1, suite_.seed}).has_value();
        if (is_ok) record_failure(attempt, Failure(Status::ok, ""));
    }
}

std::vector<int> Session::runnable() const {
    std::vector<int> points;
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
        const std::string& variant = plan_.variants[static_cast<std::size_t>(plan_.points[i].variant)].name;
        const auto found = outcomes_.find({variant, {}});
        if (found == outcomes_.end() || found->second.first != status_name(Status::ok)) continue;
        if (!outcomes_.contains({variant, static_cast<int>(i)})) points.push_back(static_cast<int>(i));
    }
    return points;
}

std::vector<int> Session::uncertain(const std::vector<int>& points) const {
    std::vector<int> found;
    for (const int point : points) {
        const auto medians = medians_.find(point);
        if (medians == medians_.end()) continue;  // its visits failed
        const ChunkMedians launches = by_launch(medians->second);
        const auto known = interval(launches);
        std::vector<double> all;
        for (const auto& chunks : launches) all.insert(all.end(), chunks.begin(), chunks.end());
        if (!known || known->second - known->first > 2 * suite_.extent.target * median(all)) found.push_back(point);
    }
    return found;
}

double Session::left_s(int launch, bool of_all) const {
    // What earlier launches took too long is taken from those that follow.
    double earlier_s = 0, own_s = now_s() - begin_s_;
    for (const auto& [number, used_s] : journal_.history().used_s) {
        if (number < launch) earlier_s += used_s;
        if (number == launch) own_s += used_s;  // by earlier starts of this launch
    }
    const int launches = std::max(suite_.extent.launches - launch + 1, 1);
    return (suite_.extent.budget_s - earlier_s) / (of_all ? 1 : launches) - own_s;
}

void Session::visit_all(int launch) {
    const Extent& extent = suite_.extent;
    const bool is_further = launch > extent.launches;
    int round = 0;
    for (; round < extent.rounds && (round == 0 || left_s(launch) > 0); ++round) {
        visit_round(launch, round, is_further ? uncertain(runnable()) : runnable(), extent.rounds - round);
    }
    // What is left of the time goes to points that are not known well: to further launches, since these differ more
    // than the rounds of one, or to further rounds.
    if (!extent.adds_rounds || extent.most_launches > extent.launches) return;
    for (; round < most_rounds_factor * extent.rounds && left_s(launch) > 0; ++round) {
        const auto points = uncertain(runnable());
        if (points.empty()) return;
        visit_round(launch, round, points, 1);
    }
}

void Session::visit_round(int launch, int round, const std::vector<int>& points, int rounds_left) {
    const auto visited = journal_.history().visited.find(launch);
    std::vector<int> order;
    for (const int point : order_of_round(suite_, plan_.points.size(), launch, round)) {
        const bool is_done = visited != journal_.history().visited.end() && visited->second.contains({round, point});
        if (!is_done && std::find(points.begin(), points.end(), point) != points.end()) order.push_back(point);
    }
    const double end_s = left_s(launch) * (rounds_left - 1) / rounds_left;  // what this round leaves
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double round_s = left_s(launch) - end_s;
        // The first round has all points, however late it is; in later launches only while the budget lasts.
        if (round > 0 ? left_s(launch) <= 0 : launch > 1 && left_s(launch, true) <= 0) return;
        progress("launch " + std::to_string(launch) + " of " + std::to_string(suite_.extent.launches) + ", round " +
                 std::to_string(round + 1) + ", visit " + std::to_string(i + 1) + " of " +
                 std::to_string(order.size()));
        const std::uint64_t seed = static_cast<std::uint64_t>(launch) * 1000 + static_cast<std::uint64_t>(round);
        const double share_s = std::max(round_s, 0.0) / static_cast<double>(order.size() - i);
        const auto chunk = carry_out({Kind::visit, order[i], share_s, std::max(runs_[order[i]], 1), seed});
        if (chunk) write_chunk(launch, round, order[i], *chunk);
    }
}

std::string Session::variant_of(const Command& command) const {
    const int variant =
        command.kind == Kind::probe ? command.index : plan_.points[static_cast<std::size_t>(command.index)].variant;
    return plan_.variants[static_cast<std::size_t>(variant)].name;
}

std::optional<Chunk> Session::carry_out(const Command& command) {
    if (rank_ == 0) {
        Command given = command;
        MPI_Request request = MPI_REQUEST_NULL;
        require(PMPI_Ibcast(&given, sizeof given, MPI_BYTE, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
        wait_aside(request);
        if (command.kind == Kind::end) return {};
    }
    current_ = {variant_of(command), command.kind == Kind::visit ? std::optional(command.index) : std::nullopt};
    std::vector<int> points{command.index};
    if (command.kind == Kind::probe) points = plan_.variants[static_cast<std::size_t>(command.index)].probed;
    const Team& team = teams_.at(plan_.points[static_cast<std::size_t>(points[0])].ranks);
    if (rank_ >= team.ranks) return {};
    if (rank_ == 0) journal_.append(attempt_line(current_, now_s() - begin_s_));
    watchdog_.begin(
        [this](const char* status, const std::string& message) { return outcome_line(current_, status, message); });
    std::optional<Chunk> chunk;
    try {
        for (const int i : points) {
            const Point& point = plan_.points[static_cast<std::size_t>(i)];
            if (command.kind == Kind::probe) {
                visitor_.probe(point, team);
                chunk.emplace();
            } else {
                Extent most = suite_.extent;
                most.runs = std::max(most.runs, command.runs);
                chunk = visitor_.visit(point, team, most, command.limit_s, command.seed);
            }
        }
        watchdog_.end();
    } catch (const Failure& failure) {
        watchdog_.end();
        if (rank_ == 0) record_failure(current_, failure);
        chunk.reset();
        // After a call that failed the MPI is not to be trusted: the next start goes on with the next item.
        if (failure.status == Status::error) {
            PMPI_Barrier(team.control);
            _exit(exit_again);
        }
    }
    return chunk;
}

void Session::record_failure(const Attempt& attempt, const Failure& failure) {
    outcomes_[attempt] = {status_name(failure.status), failure.what()};
    if (journal_.file() < 0) {
        std::fprintf(stderr, "error: rank %d: %s: %s\n", rank_, attempt.variant.c_str(), failure.what());
        return;
    }
    journal_.append(outcome_line(attempt, status_name(failure.status), failure.what()));
}

void Session::write_header(int launch) {
    const auto& suite = journal_.history().suite;
    if (rank_ == 0 && suite && *suite != key_) {
        throw InvalidInput(options_.output + ": holds the results of another suite, MPI or number of ranks",
                           "name another place with -o; hocket bench run --force begins anew");
    }
    if (rank_ == 0 && !suite) {
        base::JsonWriter json;
        json.begin_object();
        json.field("type", "suite");
        json.field("format", "hocket.bench/1");
        json.field("name", suite_.name);
        json.field("key", key_);
        json.field("seed", suite_.seed);
        json.field("quick", options_.is_quick);
        json.field("launches", suite_.extent.launches);
        json.field("rounds", suite_.extent.rounds);
        json.field("samples", suite_.extent.samples);
        json.field("target", suite_.extent.target);
        json.field("budget_s", suite_.extent.budget_s);
        json.end_object();
        std::string lines = json.text() + '\n';
        for (std::size_t i = 0; i < plan_.points.size(); ++i) {
            base::JsonWriter of_point;
            of_point.begin_object();
            of_point.field("type", "point");
            of_point.field("point", i);
            of_point.field("variant", plan_.variants[static_cast<std::size_t>(plan_.points[i].variant)].name);
            write_fields(of_point, plan_.points[i]);
            of_point.end_object();
            lines += of_point.text() + '\n';
        }
        journal_.append(lines);
    }
    base::JsonWriter json;
    json.begin_object();
    json.field("type", "run");
    json.field("launch", launch);
    write_machine(json, options_.folder);
    json.key("timer").begin_object();
    json.field("step_ns", visitor_.timer().step_ns);
    json.field("overhead_ns", visitor_.timer().overhead_ns);
    json.end_object();
    json.end_object();
    if (rank_ == 0 && !are_enough(journal_.history().ended.size())) journal_.append(json.text() + '\n');
}

bool Session::are_enough(std::size_t launches) const {
    const int number = static_cast<int>(launches);
    if (number == 0) return false;  // the first one visits all points, however late it is
    if (number >= suite_.extent.most_launches || left_s(number + 1, true) <= 0) return true;
    return number >= suite_.extent.launches && uncertain(runnable()).empty();
}

void Session::write_chunk(int launch, int round, int point, const Chunk& chunk) {
    base::JsonWriter json;
    json.begin_object();
    json.field("type", "chunk");
    json.field("launch", launch);
    json.field("round", round);
    json.field("point", point);
    json.field("runs", chunk.runs);
    json.field("operations", chunk.operations);
    json.field("bytes_moved", chunk.bytes_moved);
    json.field("first_ns", chunk.first_ns);
    json.field("took_s", chunk.took_s);
    if (chunk.late > 0) json.field("late", chunk.late);
    json.field("samples_ns", chunk.samples_ns);
    if (!chunk.parts.empty()) {
        json.key("parts_ns").begin_object();
        for (const Part& part : chunk.parts) json.field(part.name, part.ns);
        json.end_object();
    }
    json.end_object();
    journal_.append(json.text() + '\n');
    const std::vector<double> samples(chunk.samples_ns.begin(), chunk.samples_ns.end());
    medians_[point][launch].push_back(median(samples) / chunk.runs);
    runs_[point] = std::max(runs_[point], chunk.runs);
}

void Session::progress(const std::string& text) {
    if (options_.is_quiet || now_s() - last_progress_s_ < between_progress_s) return;
    last_progress_s_ = now_s();
    std::fprintf(stderr, "hocket-bench: %s\n", text.c_str());
}

void Session::print_table() const {
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
        const Point& point = plan_.points[i];
        const std::string& variant = plan_.variants[static_cast<std::size_t>(point.variant)].name;
        const auto medians = medians_.find(static_cast<int>(i));
        if (medians == medians_.end()) {
            const auto outcome = outcomes_.find({variant, {}});
            if (outcome == outcomes_.end()) continue;
            std::printf("%-60s %s: %s\n", variant.c_str(), outcome->second.first.c_str(),
                        outcome->second.second.c_str());
            continue;
        }
        const ChunkMedians launches = by_launch(medians->second);
        std::vector<double> all;
        for (const auto& chunks : launches) all.insert(all.end(), chunks.begin(), chunks.end());
        std::printf("%-60s %10lld B %12.3f us", variant.c_str(), static_cast<long long>(point.bytes),
                    1e-3 * median(all));
        if (const auto known = interval(launches))
            std::printf("  %.3f to %.3f", 1e-3 * known->first, 1e-3 * known->second);
        std::putchar('\n');
    }
    std::fflush(stdout);
}

}  // namespace hocket::bench
