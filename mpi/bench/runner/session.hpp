// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <map>
#include <memory>
#include <string>

#include "bench/runner/journal.hpp"
#include "bench/runner/options.hpp"
#include "bench/runner/plan.hpp"
#include "bench/runner/team.hpp"
#include "bench/runner/visit.hpp"
#include "bench/runner/watchdog.hpp"

namespace hocket::bench {

/// One launch of a suite. Rank 0 decides what is next, the others follow.
class Session {
public:
    /// Collective over MPI_COMM_WORLD. @param key  of the suite, its options and the launch
    Session(Suite suite, const Options& options, const std::string& key);

    /// Until the launch is complete. Returns an exit status. Does not return where an item leaves the MPI broken.
    int run();

private:
    enum class Kind : int { end, probe, visit };
    struct Command {
        Kind kind = Kind::end;
        int index = 0;  ///< of the variant or the point
        double limit_s = 0;
        int runs = 1;  ///< of a sample at least
        std::uint64_t seed = 0;
    };

    bool direct();  // rank 0; whether another launch follows
    void follow();  // the others
    void take_known();
    void take_runs();
    void probe_all();
    void visit_all(int launch);
    /// @param rounds_left  that the time is for, with this one
    void visit_round(int launch, int round, const std::vector<int>& points, int rounds_left);
    /// Of the launch's part of the budget, which begins with the program and has all that it does; or of all parts from
    /// this launch on.
    [[nodiscard]] double left_s(int launch, bool of_all = false) const;
    [[nodiscard]] std::vector<int> runnable() const;
    [[nodiscard]] std::vector<int> uncertain(const std::vector<int>& points) const;

    /// On all ranks. What it found on rank 0; none if it failed, which has been recorded then.
    std::optional<Chunk> carry_out(const Command& command);
    [[nodiscard]] std::string variant_of(const Command& command) const;
    void record_failure(const Attempt& attempt, const Failure& failure);

    /// Whether these are all launches that there are, or that there is time for.
    [[nodiscard]] bool are_enough(std::size_t launches) const;
    void write_header(int launch);
    void write_chunk(int launch, int round, int point, const Chunk& chunk);
    void print_table() const;
    void progress(const std::string& text);

    double begin_s_;
    Suite suite_;
    Options options_;
    std::string key_;
    int rank_ = 0, ranks_ = 0;
    Plan plan_;
    Journal journal_;
    Watchdog watchdog_;
    Attempt current_;
    Visitor visitor_;
    std::map<int, Team> teams_;
    std::map<Attempt, std::pair<std::string, std::string>> outcomes_;
    std::map<int, std::map<int, std::vector<double>>> medians_;
    std::map<int, int> runs_;  ///< of a sample so far, by point; on rank 0
    double last_progress_s_ = 0;
};

}  // namespace hocket::bench
