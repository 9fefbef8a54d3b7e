// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/items/outcome.hpp"
#include "bench/runner/statistics.hpp"

namespace hocket::bench {

/// What the process was about to do: to try a variant of an item (`point` empty), or to measure a point.
struct Attempt {
    std::string variant;
    std::optional<int> point;
    auto operator<=>(const Attempt&) const = default;
};

/// A record {"type": "outcome"}, or {"type": "attempt"} without a status, as a line.
std::string outcome_line(const Attempt& attempt, const char* status, const std::string& message);
/// @param at_s  since the program began
std::string attempt_line(const Attempt& attempt, double at_s);
std::string launch_end_line(int launch);

/// What a file of results contains so far.
struct History {
    std::optional<std::string> suite;                                 ///< the key of the suite and launch that it is of
    std::map<Attempt, std::pair<std::string, std::string>> outcomes;  ///< status and message
    std::vector<Attempt> unfinished;  ///< attempts that twice ended the process without a word
    std::map<int, std::map<int, std::vector<double>>> medians;  ///< of chunks, by point and launch
    std::map<int, std::set<std::pair<int, int>>> visited;       ///< rounds and points, by launch
    std::map<int, int> runs;                                    ///< of a sample at most, by point
    std::map<int, double> used_s;                               ///< by launch, of all starts of it
    std::set<int> ended;                                        ///< launches
};

/// What stands in a file; nothing where there is none. `whole_bytes`: without a record at its end that was cut off.
/// @throws InvalidInput
History read_history(const std::string& path, std::size_t& whole_bytes);

/// The file of results: JSON Lines, to which each finished step is appended at once.
class Journal {
public:
    /// @param owns  it reads what is there and may write; the others only write when they fail
    Journal(std::string path, bool owns);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    [[nodiscard]] int file() const { return file_; }
    [[nodiscard]] const History& history() const { return history_; }
    /// @throws Error  if the line could not be written whole
    void append(const std::string& line) const;

private:
    /// Until the end of the process: two programs would mix their records.
    void lock() const;

    std::string path_;
    int file_ = -1;
    History history_;
};

}  // namespace hocket::bench
