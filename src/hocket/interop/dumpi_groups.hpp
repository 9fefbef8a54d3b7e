// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hocket::interop {

/// The groups of one rank in a DUMPI file, by handle: ranks in the communicator that the group comes from. Of a
/// communicator other than MPI_COMM_WORLD the size is not known here, so what would need it stays unknown.
class DumpiGroups {
public:
    struct Group {
        std::int32_t communicator;
        std::vector<std::int32_t> ranks;
        bool whole;  ///< all ranks of the communicator, which `ranks` lists only for MPI_COMM_WORLD
    };
    enum class Both : std::uint8_t { either, both, first_alone };

    explicit DumpiGroups(std::int32_t num_ranks) : num_ranks_(num_ranks) {}

    void of_communicator(std::int32_t made, std::int32_t communicator);
    void include(std::int32_t made, std::int32_t from, const std::vector<std::int32_t>& places);
    void exclude(std::int32_t made, std::int32_t from, const std::vector<std::int32_t>& places);
    void combine(std::int32_t made, std::int32_t first, std::int32_t second, Both);
    /// First, last and stride of each range.
    static std::vector<std::int32_t> ranks_in(const std::vector<std::int32_t>& ranges);

    [[nodiscard]] std::optional<Group> find(std::int32_t handle) const;

private:
    [[nodiscard]] bool is_listed(const Group& group) const { return !group.whole || group.communicator == 0; }

    std::int32_t num_ranks_;
    std::map<std::int32_t, Group> groups_;
};

}  // namespace hocket::interop
