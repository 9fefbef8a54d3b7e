// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <span>
#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

/// [computer] whether it is behind the link.
std::vector<bool> computers_behind(const Tree&, std::int32_t link);

/// What is behind a link, with a computer, number 0, where it is cut off; `computers`: which the others are in the
/// whole tree.
Tree subtree_behind(const Tree&, std::int32_t link, std::vector<std::int32_t>* computers = nullptr);

/// The broadcast to what is behind a link, when what is before it sends as much at once as the link lets through.
struct CutOff {
    Tree tree;
    std::vector<std::int32_t> holders;
    std::vector<std::int64_t> from_ns;  ///< each has the message
};

/// In place of all computers before the link there is, of those with the same rate to it, one that has the message when
/// the first of them can, sends to any number at once, and need not receive. So, without delays, every broadcast of the
/// whole tree is a broadcast of this, or less than one: no broadcast to all that is behind ends earlier than the
/// fastest here. Rates must be kept apart: two slow transfers may share what two faster ones may not, and be over
/// sooner. `ready_ns[computer]`: before, it does not have the message; 0 of those behind the link that have it.
CutOff cut_off(const Tree&, std::int32_t link, std::span<const std::int64_t> ready_ns);

/// Whether all that comes over the link comes at its bandwidth, or as slowly as what is behind makes it. Then, without
/// delays, no broadcast to all that is behind is faster than one from where it is cut off. Otherwise it may be: two
/// transfers that are slow because of what is before the link may share what two faster ones may not, and be over
/// sooner.
bool comes_at_full_rate(const Tree&, std::int32_t link);

}  // namespace hocket::search
