// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace hocket::selection {

/// The ranks of a communicator agree on the largest of each of the numbers that they state, while their calls go on. It
/// stays where it is while it is under way.
class Exchange {
public:
    /// MPI's functions, or those behind a library that defines them too.
    struct Functions {
        decltype(&PMPI_Iallreduce) iallreduce;
        decltype(&PMPI_Test) test;
        decltype(&PMPI_Wait) wait;
    };
    explicit Exchange(const Functions& functions) : functions_(functions) {}

    // All return MPI error codes.
    int begin(std::vector<std::int64_t> mine, MPI_Comm comm) {
        mine_ = std::move(mine);
        all_ = mine_;
        return functions_.iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()), MPI_INT64_T, MPI_MAX,
                                     comm, &request_);
    }
    /// `done` is set if none is under way, too.
    int test(bool& done) {
        int flag = 0;
        const int code = functions_.test(&request_, &flag, MPI_STATUS_IGNORE);
        done = flag != 0;
        return code;
    }
    int wait() { return functions_.wait(&request_, MPI_STATUS_IGNORE); }

    [[nodiscard]] bool is_pending() const { return request_ != MPI_REQUEST_NULL; }
    /// Once it is done.
    [[nodiscard]] const std::vector<std::int64_t>& all() const { return all_; }

private:
    Functions functions_;
    std::vector<std::int64_t> mine_{}, all_{};
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace hocket::selection
