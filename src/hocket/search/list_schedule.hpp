// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/search/bound.hpp"
#include "hocket/search/state.hpp"
#include "hocket/search/watch.hpp"

namespace hocket::search {

/// Makes a broadcast at once that is to end by a given time: of the transfers that can start first, the most urgent one
/// after which the bound still allows that. Urgent is what hangs on the node where the way to the receiver turns down,
/// by the time it has left after what it still needs.
class ListSchedule {
public:
    /// Once half of the watch's time is over it takes the most urgent transfer, whatever the bound.
    ListSchedule(const Tree&, Bound&, Watch&);

    /// Adds transfers to `state` until it is complete. Gives up, false, when it cannot end before `worst_ns`, or when
    /// the watch is done.
    bool complete(State& state, std::int64_t target_ns, std::int64_t worst_ns);
    /// The same at once, without looking at bounds: whoever can send first does, to a branch around it in which nobody
    /// has the message. For when time is up.
    void complete_at_once(State& state) const;

private:
    struct Candidate {
        Transfer transfer;
        std::int64_t needs_ns;
    };
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    void find_targets(const State&);
    void find_candidates(const State&);

    const Tree* tree_;
    Bound* bound_;
    Watch* watch_;
    std::vector<std::vector<std::int32_t>> children_;  // [node] with computers, longest tail first
    std::vector<std::int32_t> entry_;                  // [node] the computer below it to inform first
    std::vector<std::int32_t> num_informed_;           // [node] below and at it
    std::vector<std::int32_t> targets_;   // [node] the computer to inform next from elsewhere below it, or -1
    std::vector<std::int32_t> open_;      // larger nodes, to which computers elsewhere may send, too
    std::vector<std::int64_t> needs_ns_;  // [node] Bound::below_ns()
    std::vector<Candidate> candidates_;   // of one earliest start, the most urgent first
};

}  // namespace hocket::search
