// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/plan/plan.hpp"

/// Plan files: JSON of format "hocket.plan/3", described in docs/reference/plan-format.md. Files of format 2, which
/// lacks starts and lists of earlier entries, and of format 1, which lacks segment_bytes, other_members, shared
/// schedules and hosts, are read too.
namespace hocket {

/// A larger plan is refused before it is read: a program must not fill its memory with a file that is not a plan.
constexpr std::size_t max_plan_bytes = std::size_t{64} << 20;

/// The text of a plan file.
/// @throws InvalidInput  if it cannot be read, is empty, or is larger than that
std::string read_plan_file(const std::string& path);

/// Survives any bytes.
/// @throws InvalidInput  naming `source`, entry and key, what was found and what is accepted
Plan plan_from_json(std::string_view text, std::string_view source);
/// Each of its schedules that is carried whole, and each long list of ranks, once, however many entries have it.
std::string to_json(const Plan&);

/// Entries to measure, each alone: unlike those of a Plan they may serve the same calls.
struct Candidates {
    std::int32_t ranks;
    std::string network;
    std::vector<PlanEntry> entries;
};

/// As plan_from_json(), but for what two entries have in common.
Candidates candidates_from_json(std::string_view text, std::string_view source);
std::string to_json(const Candidates&);

}  // namespace hocket
