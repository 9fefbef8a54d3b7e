// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

/// [computer] whether it is behind the link.
std::vector<bool> computers_behind(const Tree&, std::int32_t link);

/// What is behind a link, with a computer, number 0, where it is cut off.
Tree subtree_behind(const Tree&, std::int32_t link);

/// Whether all that comes over the link comes at its bandwidth, or as slowly as what is behind makes it. Then, without
/// delays, no broadcast to all that is behind is faster than one from where it is cut off. Otherwise it may be: two
/// transfers that are slow because of what is before the link may share what two faster ones may not, and be over sooner.
bool comes_at_full_rate(const Tree&, std::int32_t link);

}  // namespace hocket::search
