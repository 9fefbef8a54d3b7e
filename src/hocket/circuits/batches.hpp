// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/circuits/switchboard.hpp"
#include "hocket/program/program.hpp"

namespace hocket::circuits {

/// Circuits that are there at once, one batch after another within a collective: as [Takizawa] manages them.
struct Batches {
    struct Batch {
        std::vector<HostPair> circuits = {};      ///< sorted
        std::vector<std::int32_t> messages = {};  ///< [circuit] their number
        std::int32_t collective = 0;
    };
    std::vector<Batch> batches;                      ///< those of a collective in their order, one after another
    std::vector<std::vector<std::int32_t>> of_send;  ///< [rank][op] batch of a send; -1: of no collective, or no send
    std::vector<std::vector<std::int32_t>> calls;    ///< [rank] collectives, of with_teardowns()
};

/// Of each collective, or of the whole program if it names none. Its messages go in rounds, in each of which a rank
/// sends one; as many rounds to a batch as its ports and wavelengths hold, which gives the fewest batches of
/// consecutive rounds. A round that no batch holds alone, such as that of a ring on one port, is cut.
/// @throws InvalidInput  if a message's circuit can never be set up
Batches plan_batches(const Program&, const Network&);

/// For Policy::naive: the messages of each collective that the program names as one batch, without circuits of its own.
Batches count_messages(const Program&, const Network&);

/// The program in which a call of a collective ends for a rank when the circuits of the collective are down: after the
/// ops of the i-th call the rank sends an empty message to itself, which the transport holds until then. Its send and
/// its recv follow all ops of the rank.
Program with_teardowns(const Program&);

}  // namespace hocket::circuits
