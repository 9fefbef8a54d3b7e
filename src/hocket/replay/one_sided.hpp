// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hocket/replay/function_kind.hpp"
#include "hocket/replay/program_builder.hpp"

namespace hocket::replay {

/// The one-sided calls of a rank, as messages that the target takes beside what it does itself.
///
///   put, update      a message; an update is then combined at the target
///   get, fetch       a message that asks (of a fetch with the bytes), and at once one back with the bytes
///   flush, unlock    wait for what was got, and for an empty message from each target behind all that it was sent
///   fence            a flush of all targets; the caller adds the barrier
///   post, start      an empty message from each rank of the post's group to those that start
///   complete, wait   likewise back, behind the data
///
/// Targets answer whatever they are doing, as they do where the network or a thread of the MPI library serves them.
/// Locks are in Locks.
class OneSided {
public:
    using Pending = ProgramBuilder::Pending;
    struct Tags {
        /// The same for all ranks and windows: both ends are added here, in one order.
        ProgramBuilder::Tag data, answer, acknowledge;
        ProgramBuilder::Tag post, complete;  ///< the window's own
    };

    OneSided(ProgramBuilder& builder, Rank self) : builder_(builder), self_(self) {}

    /// Begins a put, get, update or fetch of `bytes`; what is awaited when its origin's buffer may be used again.
    /// `is_last`: of the puts and updates to the target before its flush, so the target answers when it has all.
    Pending begin(OneSidedKind, std::int32_t window, const Tags&, Rank target, std::int64_t bytes, bool is_last);
    /// What is awaited at the end of an epoch with one target, or with all of them (an invalid rank); `local`: only
    /// that the buffers here may be used again.
    Pending flush(std::int32_t window, const Tags&, Rank target, bool local);
    /// Returns what the call itself waits for.
    Pending post(std::int32_t window, const Tags&, std::vector<Rank> origins);
    Pending start(std::int32_t window, const Tags&, std::vector<Rank> targets);
    Pending complete(std::int32_t window, const Tags&);
    Pending wait(std::int32_t window, const Tags&);

private:
    struct Target {
        Pending begun;         ///< ops here
        Pending arrived;       ///< ops at the target, which has not answered
        bool answers = false;  ///< behind all that it got
    };
    struct Window {
        std::map<std::int32_t, Target> targets;  ///< by world rank
        std::vector<Rank> started, posted;
    };
    void flush(Rank to, Target&, const Tags&, bool local, Pending& awaited);

    ProgramBuilder& builder_;
    Rank self_;
    std::map<std::int32_t, Window> windows_;
};

}  // namespace hocket::replay
