// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hocket/trace/tables.hpp"

namespace hocket {

/// What each rank of a real program did. All ids (functions, communicators, datatypes, operators) are the same on all
/// ranks; communicator 0 is MPI_COMM_WORLD.
class Trace {
public:
    /// Reads rank-*.bin of a folder. Ranks whose recording was cut off have what was recorded until then.
    /// @throws InvalidInput  naming the file: none there, one missing, damaged, of another run or format.
    static Trace open(const std::filesystem::path& folder);
    /// Of files that were made elsewhere, one a rank, each with its own tables. They are encoded and decoded, so that
    /// the trace is what open() would read: readings of the CPU clock are filled in, and what is refused in a file is
    /// refused here.
    /// @throws InvalidInput  naming the rank.
    static Trace make(const std::vector<trace::RankFile>&);
    /// Writes rank-*.bin into a folder, which is made if it is not there. open() gives the same trace.
    /// @throws InvalidInput  if the folder has files of a trace already, or cannot be written.
    void write(const std::filesystem::path& folder) const;

    [[nodiscard]] std::int32_t num_ranks() const { return static_cast<std::int32_t>(ranks_.size()); }
    [[nodiscard]] const trace::RankFile& rank(std::int32_t rank) const {
        return ranks_.at(static_cast<std::size_t>(rank));
    }
    /// The rank called MPI_Finalize, and its file has all its calls.
    [[nodiscard]] bool complete(std::int32_t rank) const { return this->rank(rank).end == 0; }

    [[nodiscard]] const trace::Tables& tables() const { return tables_; }
    [[nodiscard]] const std::vector<std::string>& functions() const { return tables_.functions; }
    [[nodiscard]] const std::vector<trace::Datatype>& datatypes() const { return tables_.datatypes; }
    [[nodiscard]] const std::vector<trace::Operator>& operators() const { return tables_.operators; }
    [[nodiscard]] const std::vector<trace::Communicator>& communicators() const { return tables_.communicators; }

    /// Null if the communicator has no topology, the rank is not in it, or its neighbours were not recorded.
    [[nodiscard]] const trace::Neighbours* neighbours(std::int32_t rank, std::int32_t communicator) const {
        return tables_.neighbours_of(rank, communicator);
    }

    bool operator==(const Trace&) const = default;

private:
    void add(trace::TableMerger&, trace::RankFile&&);
    /// With tables of its own.
    [[nodiscard]] trace::RankFile separate(std::int32_t rank) const;

    std::vector<trace::RankFile> ranks_;  ///< their own tables are empty: ids refer to the tables below
    trace::Tables tables_;
    std::vector<std::vector<std::int32_t>> communicators_of_;  ///< [rank] those that it knew, in the order of its file
};

}  // namespace hocket
