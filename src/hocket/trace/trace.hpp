// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hocket/trace/rank_file.hpp"

namespace hocket {

namespace trace {

/// A communicator as all its members know it. Which communicators of two ranks are one is known by their members and by
/// how many with the same members each rank had made before: creation is collective, so all count alike.
struct Communicator {
    std::int32_t made_by;  ///< function, -1: predefined, or first seen in use
    std::int32_t parent;   ///< -1: none or unknown
    bool inter;
    std::vector<std::int32_t> members;  ///< world ranks in the order of the communicator; -1: outside this world
    std::vector<std::int32_t> remote;  ///< the other group of an inter-communicator; `members` has the lower first rank

    bool operator==(const Communicator&) const = default;
};

}  // namespace trace

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

    [[nodiscard]] const std::vector<std::string>& functions() const { return functions_; }
    [[nodiscard]] const std::vector<trace::Datatype>& datatypes() const { return datatypes_; }
    [[nodiscard]] const std::vector<trace::Operator>& operators() const { return operators_; }
    [[nodiscard]] const std::vector<trace::Communicator>& communicators() const { return communicators_; }

    /// Null if the communicator has no topology, the rank is not in it, or its neighbours were not recorded.
    [[nodiscard]] const trace::Neighbours* neighbours(std::int32_t rank, std::int32_t communicator) const;

    bool operator==(const Trace&) const = default;

private:
    struct Merger;
    /// With tables of its own.
    [[nodiscard]] trace::RankFile separate(std::int32_t rank) const;

    std::vector<trace::RankFile> ranks_;  ///< their own tables are empty: ids refer to the tables below
    std::vector<std::string> functions_;
    std::vector<trace::Datatype> datatypes_;
    std::vector<trace::Operator> operators_;
    std::vector<trace::Communicator> communicators_;
    std::vector<std::vector<std::int32_t>> communicators_of_;  ///< [rank] those that it knew, in the order of its file
    std::vector<std::map<std::int32_t, trace::Neighbours>> neighbours_of_;  ///< [rank] by communicator
};

}  // namespace hocket
