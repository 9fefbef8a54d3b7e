// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/search/bound.hpp"
#include "hocket/search/candidates.hpp"
#include "hocket/search/watch.hpp"

namespace hocket::search {

/// The most promising `width` states with one, two, ... transfers, to the end; the watch keeps the best.
void beam_search(const Tree&, const State& root, Bound&, Candidates&, std::int32_t width, Watch&);

}  // namespace hocket::search
