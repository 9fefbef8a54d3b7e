// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <string>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// A file of the benchmark: one that all ranks share, one for each of them, or one for each pair of neighbouring ranks.
class File {
public:
    /// "shared", "own" or "groups", the values of the option `file`.
    explicit File(const Setting& setting);

    [[nodiscard]] MPI_File handle() const { return file_; }
    /// The ranks that open it together.
    [[nodiscard]] MPI_Comm owners() const { return owners_; }
    [[nodiscard]] bool is_shared() const { return is_shared_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// A new, empty file. @throws Failure
    void open();
    /// One that is there.
    void reopen();
    void close();
    /// What each rank wrote is seen by all, as MPI's standard has it: sync, barrier, sync.
    void hand_over(MPI_Comm comm);
    /// Closes and deletes.
    void remove();

private:
    MPI_Comm owners_;
    bool is_shared_, is_of_group_, deletes_;
    std::string path_;
    MPI_File file_ = MPI_FILE_NULL;
};

inline constexpr Option file_option{"file", "shared|own", "shared"};
inline constexpr Option sync_option{"sync", "false|true", "false"};

}  // namespace hocket::bench
