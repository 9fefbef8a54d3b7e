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

    /// One for each orbit of (sender, receiver) under the automorphisms that keep the state. Without those that start when
    /// another could be over: that other one would be in nobody's way, and its receiver better off.
    void list(const State&, std::vector<Transfer>& out);
    [[nodiscard]] Canonical& canonical() { return canonical_; }

private:
    Canonical canonical_;
    std::vector<std::int32_t> senders_, receivers_;
    std::vector<Key> seen_;
};

}  // namespace hocket::search
