// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hocket::bench {

/// What a pattern runs with.
struct Setting {
    MPI_Comm comm = MPI_COMM_NULL;  ///< the ranks that take part, for the pattern alone
    int rank = 0, ranks = 0;        ///< in `comm`
    std::int64_t bytes = 0;
    std::vector<std::pair<std::string, std::string>> options;  ///< each option of the item with its value
    std::string folder;                                        ///< for files

    [[nodiscard]] const std::string& option(std::string_view name) const;
    [[nodiscard]] bool is_set(std::string_view name) const { return option(name) == "true"; }
    [[nodiscard]] int number(std::string_view name) const { return std::stoi(option(name)); }
};

/// When a rank begins a measured run after all have started together, and when the last one does.
struct Arrival {
    std::int64_t own_ns = 0, last_ns = 0;
};

/// A part of a run, such as the call that starts a non-blocking operation.
struct Part {
    std::string name;  ///< the same on all ranks
    double ns;         ///< the median of the runs so far, on this rank
};

/// What is measured, ready to run on these ranks. Made and used by all of them alike; the functions below may
/// communicate. Only `run` is on the clock. An object whose MPI call has failed is not destroyed: that might wait for
/// ever.
class Pattern {
public:
    Pattern() = default;
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    virtual ~Pattern() = default;

    /// Fills what is sent and spoils what is received, for a `run` that `verify` checks. Data differ with the seed.
    virtual void prepare(std::uint64_t /*seed*/) {}
    /// Before each measured run.
    virtual void before() {}
    /// One run.
    virtual void run() = 0;
    /// After one `run` since `prepare`. @throws WrongData
    virtual void verify() {}
    /// Frees what MPI calls are needed for.
    virtual void finish() {}

    /// With late ranks a sample is from the arrival of the last one, and of one run.
    [[nodiscard]] virtual Arrival arrival() const { return {}; }
    /// Of the runs so far; none of most patterns.
    [[nodiscard]] virtual std::vector<Part> parts() const { return {}; }

    /// That this rank sends, reads or writes in a run.
    [[nodiscard]] virtual std::int64_t bytes_moved() const { return 0; }
    /// Of which a run consists, one after the other or in one epoch.
    [[nodiscard]] virtual int operations() const { return 1; }
};

struct Option {
    std::string_view name;
    std::string_view accepted;  ///< "a|b|c", or "" for a whole number from 1 on
    std::string_view initial;
};

/// What can be measured.
struct Item {
    std::string name;
    std::string what;
    std::int64_t min_bytes = 0;  ///< -1: it has no size
    int min_ranks = 1;
    bool batched = true;  ///< a sample may be several runs, where one is too short for the clock
    std::vector<Option> options;
    std::function<std::unique_ptr<Pattern>(const Setting&)> make;

    [[nodiscard]] bool has_bytes() const { return min_bytes >= 0; }
};

using Items = std::vector<Item>;

}  // namespace hocket::bench
