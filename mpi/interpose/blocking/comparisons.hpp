// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "interpose/communicators.hpp"

namespace hocket::interpose {

/// The ranks exchange what their self-checks state, before a call that all of them make, whatever is wrong with it.
/// Returns how to carry out the call.
SelfCheck::Way agree(SelfCheck& check, const Communicator& communicator, const std::vector<Route>& routes,
                     const selection::CallKey& call);

/// Counts a native call of a route whose schedule was found slower, and logs the first.
void count_after_fall_back(const Route& route, const SelfCheck::Entry& checked, const Communicator& communicator);

}  // namespace hocket::interpose
