// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "hocket/program/program.hpp"
#include "hocket/replay/collective_programs.hpp"

namespace hocket::replay {

/// Grows the part of a rank by one thing after another.
class PartBuilder {
public:
    explicit PartBuilder(RankProgram& part) : part_(part) { part_ = {}; }

    /// These start together, after what was awaited.
    std::int32_t send(std::size_t peer, std::int64_t bytes) { return add(ProgramOpKind::send, peer, bytes); }
    std::int32_t recv(std::size_t peer, std::int64_t bytes) { return add(ProgramOpKind::recv, peer, bytes); }
    std::int32_t reduce(std::int64_t bytes) { return add(ProgramOpKind::reduce, 0, bytes); }
    void graft(const RankProgram&);
    /// What follows starts after all that was begun.
    void await();

private:
    std::int32_t add(ProgramOpKind, std::size_t peer, std::int64_t bytes);

    RankProgram& part_;
    std::vector<std::int32_t> after_;  ///< what the next op waits for
    std::vector<std::int32_t> begun_;  ///< since
};

/// Collectives whose blocks go straight from their owner to where they belong: v-variants, those between the groups of
/// an inter-communicator, those with neighbours, and scans, in which rank r passes the result of ranks 0 .. r on. What
/// a rank cannot know about the sizes of what it gets, it takes to be of its own size. False if sizes or neighbours are
/// missing, or the collective is none of these.
bool add_direct(const CollectiveCall&, RankProgram&);

}  // namespace hocket::replay
