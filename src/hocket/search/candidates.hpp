// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <vector>

#include "hocket/search/canonical.hpp"
#include "hocket/search/state.hpp"

namespace hocket::search {

/// Lists the transfers that may come next.
class Candidates {
public:
    explicit Candidates(const Tree& tree) : canonical_(tree) {}

    /// One for each orbit of (sender, receiver) under the automorphisms that keep the state. Without those that start
    /// when another could be over, without delays also one that starts before now: that other one would be in nobody's
    /// way, and its receiver better off.
    ///
    /// This goes together with leaving out a state that is no better than one seen before (Dominance, Memo): of the
    /// fastest broadcasts take the one whose ends, latest first, are least in lexicographic order. Where a state on its
    /// way is left out for another one, what follows can follow that, all later ends no later; and if there, or after
    /// more such steps, the receiver of a later transfer could have the message before, its end and so the later ends
    /// would be less than those of the broadcast taken, which are the least. So one as fast is always found.
    void list(const State&, std::vector<Transfer>& out);
    [[nodiscard]] Canonical& canonical() { return canonical_; }

private:
    Canonical canonical_;
    std::vector<std::int32_t> senders_, receivers_;
    std::vector<Key> seen_;
};

}  // namespace hocket::search
