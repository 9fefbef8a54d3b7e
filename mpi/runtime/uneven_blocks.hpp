// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>

namespace hocket::runtime {

/// Blocks whose sizes differ from rank to rank, as the program describes them: in elements of the buffer that has all
/// of them, by counts and by displacements, where the function takes any. The arrays must last.
class UnevenBlocks {
public:
    /// All blocks are alike.
    UnevenBlocks() = default;
    explicit UnevenBlocks(const int* counts, const int* displacements = nullptr)
        : counts_(counts), displacements_(displacements), given_(true) {}
    explicit UnevenBlocks(const MPI_Count* counts, const MPI_Aint* displacements = nullptr)
        : counts_(counts), displacements_(displacements), given_(true), large_(true) {}

    [[nodiscard]] bool given() const { return given_; }
    [[nodiscard]] bool has_counts() const { return counts_ != nullptr; }
    [[nodiscard]] bool has_displacements() const { return displacements_ != nullptr; }
    /// Of a function for large counts.
    [[nodiscard]] bool is_large() const { return large_; }
    [[nodiscard]] std::int64_t count(std::int32_t rank) const {
        return large_ ? static_cast<const MPI_Count*>(counts_)[rank] : static_cast<const int*>(counts_)[rank];
    }
    [[nodiscard]] std::int64_t displacement(std::int32_t rank) const {
        return large_ ? static_cast<const MPI_Aint*>(displacements_)[rank]
                      : static_cast<const int*>(displacements_)[rank];
    }
    [[nodiscard]] std::int64_t total(std::int32_t num_ranks) const {
        std::int64_t sum = 0;
        for (std::int32_t rank = 0; rank < num_ranks; ++rank) sum += count(rank);
        return sum;
    }
    [[nodiscard]] const int* counts() const { return static_cast<const int*>(counts_); }
    [[nodiscard]] const int* displacements() const { return static_cast<const int*>(displacements_); }
    [[nodiscard]] const MPI_Count* large_counts() const { return static_cast<const MPI_Count*>(counts_); }
    [[nodiscard]] const MPI_Aint* large_displacements() const { return static_cast<const MPI_Aint*>(displacements_); }

private:
    const void* counts_ = nullptr;
    const void* displacements_ = nullptr;
    bool given_ = false, large_ = false;
};

}  // namespace hocket::runtime
