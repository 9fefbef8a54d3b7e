// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <functional>
#include <span>

#include "hocket/search/broadcast.hpp"

namespace hocket::search {

/// What [Hourai, sec. 4.4 and 4.5] leaves out because an isomorphic subtree stands for it.
enum class PaperCuts { none, sender, receiver, both };

struct PaperOptions {
    PaperCuts cuts = PaperCuts::both;
    double time_limit_s = 60;
    std::function<bool(const BroadcastProgress&)> on_progress;  ///< as in BroadcastOptions
};

/// The search of [Hourai, sec. 5] as it is published, to compare with: depth first; first to receivers far from those
/// that have the message, then transfers that can start early, then to near receivers; a bound from subtrees without
/// the message, broadcast from where they are cut off. Such a subtree has eight computers at most (the paper: "small").
/// The bound is used only where it is one, which the paper overlooks: no cable has a delay, and all that is outside
/// reaches the subtree's cable at its full bandwidth. num_nodes counts calls of the recursion. That the sender cut
/// keeps an optimum is argued in the paper, not proven.
BroadcastResult paper_broadcast(const Tree&, std::span<const std::int32_t> holders, const PaperOptions& = {});

}  // namespace hocket::search
