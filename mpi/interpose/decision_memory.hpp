// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/plan/plan.hpp"
#include "interpose/call_kinds.hpp"

namespace hocket::interpose {

/// What earlier jobs have decided and found on the same hosts, in small files of a folder. A file that cannot be read
/// or written is as one that is not there.
class DecisionMemory {
public:
    /// Decisions for fewer ranks take less time than a file.
    static constexpr std::size_t least_ranks = 256;
    /// What was shown to be faster is compared again after so many calls at most, over all jobs: a single long native
    /// call may have shown it.
    static constexpr std::int64_t most_calls = 1000;

    /// Remembers nothing.
    DecisionMemory() = default;
    /// `folder` is of this very version of hocket. `circumstances`: all that decisions depend on beside the collective
    /// and where the members are.
    DecisionMemory(std::string folder, std::string circumstances);

    /// What decide() has found for the members on these nodes, in this order.
    [[nodiscard]] std::optional<std::vector<PlanEntry>> decided(Collective, std::span<const NodeId>) const;
    void keep_decided(Collective, std::span<const NodeId>, const std::vector<PlanEntry>&) const;

    /// How each of so many entries stands after comparisons, see SelfCheck::Entry::standing(): faster, or not known.
    [[nodiscard]] std::vector<std::int64_t> standings(CallKind, std::span<const NodeId>, std::size_t num_entries) const;
    /// `had_some`: standings() has found a file.
    void keep_standings(CallKind, std::span<const NodeId>, const std::vector<std::int64_t>&, bool had_some) const;

private:
    [[nodiscard]] std::string path_of(std::string_view what, std::span<const NodeId>, std::string_view ending) const;

    std::string folder_;  // empty: none
    std::string circumstances_;
};

}  // namespace hocket::interpose
