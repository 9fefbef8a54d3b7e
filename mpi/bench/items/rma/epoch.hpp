// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <string>

#include "bench/items/partners.hpp"

namespace hocket::bench {

/// One way to synchronise one-sided communication with partners, on a window of their own.
class Epoch {
public:
    static constexpr Option option{"epoch", "fence|pscw|pscw-test|lock|lock-shared|flush|flush-local", "fence"};
    /// Those that request-based operations may be used in.
    static constexpr Option passive_option{"epoch", "lock|lock-shared|flush|flush-local", "lock"};

    /// What the window promises.
    static constexpr Option info_option{
        "info", "none|no_locks=true|accumulate_ordering=none|accumulate_ops=same_op|same_size=true", "none"};

    /// A window of `bytes` on each rank. @throws Failure
    Epoch(const Setting& setting, const Partners& partners, std::int64_t bytes);

    [[nodiscard]] MPI_Win window() const { return window_; }
    /// This rank's part of the window, `bytes` of it.
    [[nodiscard]] unsigned char* memory() const { return memory_; }

    /// Opens what must be open for operations on all targets; then before and after those on each target; then closes.
    void begin();
    void begin_target(int target);
    void end_target(int target);
    void end();

    /// Around loads and stores of this rank's own part: the operations of all others are complete, and later ones see
    /// what was stored.
    void begin_own();
    void end_own();

    void free();

private:
    enum class Kind { fence, pscw, pscw_test, lock, lock_shared, flush, flush_local };
    [[nodiscard]] bool has_groups() const { return kind_ == Kind::pscw || kind_ == Kind::pscw_test; }
    [[nodiscard]] bool holds_lock_all() const { return kind_ == Kind::flush || kind_ == Kind::flush_local; }

    Kind kind_;
    MPI_Comm comm_;
    int rank_;
    MPI_Win window_ = MPI_WIN_NULL;
    unsigned char* memory_ = nullptr;
    MPI_Group targets_ = MPI_GROUP_EMPTY, origins_ = MPI_GROUP_EMPTY;
};

}  // namespace hocket::bench
