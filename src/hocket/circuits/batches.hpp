// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hocket/circuits/circuit.hpp"
#include "hocket/circuits/switchboard.hpp"
#include "hocket/program/program.hpp"

namespace hocket::circuits {

/// The collectives of a program, and their messages between hosts.
struct Collectives {
    struct Message {
        Rank source;
        std::int32_t send;  ///< op of the source
        HostPair hosts;
    };
    using Round = std::vector<Message>;
    struct One {
        std::int32_t num_messages = 0;
        std::vector<Round> rounds = {};
    };
    std::vector<One> all;
    std::vector<std::vector<std::int32_t>> of_send;  ///< [rank][op] index in `all`; -1: of none, or no send
    std::vector<std::vector<std::int32_t>> calls;    ///< [rank] index in `all` of each call
};

/// For Policy::batch: each collective in rounds, in each of which a rank sends one message; the whole program is one
/// collective if it names none.
Collectives find_rounds(const Program&, const Network&);

/// For Policy::naive: the collectives that the program names, without rounds.
Collectives find_collectives(const Program&, const Network&);

/// Circuits that are to be up at once: whether hosts have as many ports now, and cables as many wavelengths.
class Filling {
public:
    Filling(const Network&, const Switchboard&, CircuitPaths&);

    /// Adds those of a round that are not there yet, or nothing.
    bool add(const Collectives::Round&);
    void clear();

private:
    bool add(HostPair);
    std::vector<bool>& wavelengths_of(LinkId link) { return wavelengths_[link.value / 2]; }

    const Switchboard& board_;
    CircuitPaths& paths_;
    std::vector<std::int32_t> used_;                                   // [node] ports
    std::unordered_map<std::int32_t, std::vector<bool>> wavelengths_;  // of cables: those taken
    std::vector<HostPair> pairs_, fresh_;                              // sorted; of the round at hand
    std::vector<LinkId> path_;
};

/// The program in which a call of a collective ends for a rank when the circuits of the collective are down: after the
/// ops of the i-th call the rank sends an empty message to itself, which the transport holds until then. Its send and
/// its recv follow all ops of the rank.
Program with_teardowns(const Program&);

}  // namespace hocket::circuits
