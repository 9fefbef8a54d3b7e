// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/plan/checks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hocket/base/json_text.hpp"
#include "hocket/plan/plan.hpp"

namespace hocket::plan {

namespace {

std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

}  // namespace

void refuse(std::string_view key, std::string_view found, std::string_view accepted) {
    throw InvalidInput(std::string(key) + " is " + std::string(found) + "; accepted: " + std::string(accepted));
}

void refuse_rank(std::string_view key, std::string_view found, std::int64_t limit) {
    throw InvalidInput(std::string(key) + " holds " + std::string(found) + "; accepted: ranks from 0 to " +
                       std::to_string(limit - 1));
}

std::string whole_numbers(Bounds bounds) {
    return "a whole number from " + std::to_string(bounds.low) + " to " + std::to_string(bounds.high);
}

void require_within(std::string_view key, std::int64_t value, Bounds bounds) {
    if (value < bounds.low || value > bounds.high) refuse(key, std::to_string(value), whole_numbers(bounds));
}

void require_number(std::string_view key, double value, std::string_view accepted) {
    if (!std::isfinite(value) || value < 0) refuse(key, base::number_text(value), accepted);
}

void require_ranks(std::string_view key, std::span<const std::int32_t> ranks, std::int64_t limit) {
    if (ranks.empty()) refuse(key, "[]", "a list of ranks");
    for (const std::int32_t rank : ranks)
        if (rank < 0 || rank >= limit) refuse_rank(key, std::to_string(rank), limit);
    std::vector<std::int32_t> sorted(ranks.begin(), ranks.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
        throw InvalidInput(std::string(key) + " holds rank " + std::to_string(*twice) + " twice");
}

Collective collective_named(std::string_view name) {
    if (const auto found = find_collective(name)) return *found;
    refuse("collective", base::json_text(name), accepted_collectives());
}

const collectives::Algorithm& algorithm_named(Collective collective, std::string_view name) {
    std::vector<std::string_view> names;
    for (const collectives::Algorithm& algorithm : collectives::all_algorithms()) {
        if (algorithm.collective != collective) continue;
        if (algorithm.name == name) return algorithm;
        names.push_back(algorithm.name);
    }
    throw InvalidInput("algorithm is " + base::json_text(name) + "; accepted for " + std::string(name_of(collective)) +
                       ": " + listed(names));
}

std::string accepted_collectives() { return listed(collective_names()); }
std::string accepted_progress() { return listed(progress_modes()); }

std::string texts_for(std::int32_t ranks) { return "a list of " + std::to_string(ranks) + " texts, one for each rank"; }

}  // namespace hocket::plan
