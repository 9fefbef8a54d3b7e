// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string_view>

namespace hocket::probes {

/// The computation that a collective is to hide behind: an outer loop of 200 iterations, or fewer of at least 50 us.
/// Work, never time until a deadline, which would make good what others take from its core and so show overlap where
/// there is none.
class Compute {
public:
    Compute() = default;
    Compute(const Compute&) = delete;
    Compute& operator=(const Compute&) = delete;
    virtual ~Compute() = default;

    /// Collective. How much `run` does, on all ranks alike: what takes the slowest of them `seconds` while nothing is
    /// communicated.
    virtual void set(double seconds, MPI_Comm comm);
    /// Calls `after_each` after each iteration of the outer loop.
    virtual void run(const std::function<void()>& after_each) = 0;
    [[nodiscard]] int num_iterations() const { return num_iterations_; }

private:
    int num_iterations_ = 1;
};

/// "free-core": naps, as if the computation had cores of its own, of which the communication takes nothing. A nap that
/// was too long is made good in the next one.
/// "real": the matrix-vector product of [Nanri15], each iteration a block of rows by all threads of OpenMP.
std::unique_ptr<Compute> make_compute(std::string_view model);

/// Threads of "real".
int num_compute_threads();

}  // namespace hocket::probes
