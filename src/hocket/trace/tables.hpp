// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hocket/trace/rank_file.hpp"

namespace hocket::trace {

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

/// What the calls of all ranks refer to, by ids that are the same on all ranks; communicator 0 is MPI_COMM_WORLD.
struct Tables {
    std::vector<std::string> functions;
    std::vector<Datatype> datatypes;
    std::vector<Operator> operators;
    std::vector<Communicator> communicators;
    std::vector<std::map<std::int32_t, Neighbours>> neighbours;  ///< [rank] by communicator

    /// Null if the communicator has no topology, the rank is not in it, or its neighbours were not recorded.
    [[nodiscard]] const Neighbours* neighbours_of(std::int32_t rank, std::int32_t communicator) const;

    bool operator==(const Tables&) const = default;
};

/// Gives the tables of all ranks one numbering, as far as they were read.
class TableMerger {
public:
    explicit TableMerger(Tables& to) : to_(to) {}

    /// Ids of a rank's own tables -> ids of all.
    struct Numbers {
        std::vector<std::int32_t> functions, datatypes, operators, communicators;
        std::map<std::int32_t, std::int32_t> made;  ///< how many communicators of each group
    };
    /// Adds what the file has defined since the last time, and gives all its calls the ids of all.
    void merge(Numbers&, RankFile& file);

private:
    /// Inter, members, remote.
    using Group = std::tuple<bool, std::vector<std::int32_t>, std::vector<std::int32_t>>;
    std::int32_t merge(Numbers&, const LocalCommunicator&);

    Tables& to_;
    std::map<Group, std::int32_t> groups_;
    /// By group, and how many of the same group a rank had made before.
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> communicators_;
};

}  // namespace hocket::trace
