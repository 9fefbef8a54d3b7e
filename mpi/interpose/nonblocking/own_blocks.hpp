// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/native_call.hpp"
#include "runtime/uneven_blocks.hpp"

namespace hocket::interpose {

/// A copy of the program's counts and displacements, for a call that is under way: bindings for Fortran may have made
/// these arrays for the call that starts it.
class OwnBlocks {
public:
    OwnBlocks() = default;
    OwnBlocks(const OwnBlocks&) = delete;
    OwnBlocks& operator=(const OwnBlocks&) = delete;

    /// `blocks` means the copy from now on.
    void copy(runtime::UnevenBlocks& blocks, int num_ranks) {
        if (!blocks.given()) return;
        if (blocks.is_large()) {
            copied(large_counts_, blocks.large_counts(), num_ranks);
            copied(large_displacements_, blocks.large_displacements(), num_ranks);
            blocks = runtime::UnevenBlocks(large_counts_.data(), address(large_displacements_));
        } else {
            copied(counts_, blocks.counts(), num_ranks);
            copied(displacements_, blocks.displacements(), num_ranks);
            blocks = runtime::UnevenBlocks(counts_.data(), address(displacements_));
        }
    }
    /// For the MPI's own function, unless the arrays are large.
    [[nodiscard]] runtime::BlockArguments arguments() const {
        runtime::BlockArguments found;
        found.recv_counts = address(counts_);
        found.recv_displacements = address(displacements_);
        return found;
    }

private:
    template <class Value>
    static void copied(std::vector<Value>& to, const Value* from, int num_ranks) {
        if (from != nullptr) to.assign(from, from + num_ranks);
    }
    template <class Value>
    static const Value* address(const std::vector<Value>& values) {
        return values.empty() ? nullptr : values.data();
    }

    std::vector<int> counts_, displacements_;
    std::vector<MPI_Count> large_counts_;
    std::vector<MPI_Aint> large_displacements_;
};

}  // namespace hocket::interpose
