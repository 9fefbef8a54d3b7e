// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "hocket/base/error.hpp"
#include "hocket/collectives/algorithm.hpp"

/// What the rules of a Plan and its reader refuse, and their messages.
namespace hocket::plan {

constexpr std::string_view format = "hocket.plan/3";
constexpr std::array<std::string_view, 2> formats_before = {"hocket.plan/2", "hocket.plan/1"};

constexpr std::string_view remake = "write a new plan with `hocket advise` or `hocket tune`";
constexpr std::string_view both_given = "it has both segments and segment_bytes; give one";
constexpr std::string_view seconds = "seconds, not negative, or null";
constexpr std::string_view not_negative = "a number, not negative";

constexpr std::size_t most_shown = 40;  ///< of a value that is refused

/// Both ends included.
struct Bounds {
    std::int64_t low, high;
};
constexpr Bounds positive{1, std::numeric_limits<std::int32_t>::max()};
constexpr Bounds segment_sizes{1, std::numeric_limits<std::int64_t>::max()};
/// hocket chooses segments of 512 B and more. Smaller ones cost as much as any message, and a call in very many of them
/// takes seconds: above a number that any entry may ask for, as it may serve small sizes too, they are refused.
constexpr std::int64_t least_of_many = 64;  ///< bytes of a segment
constexpr std::int32_t many_segments = 4096;
constexpr Bounds sizes{0, std::numeric_limits<std::int64_t>::max()};

/// KEY is FOUND; accepted: ACCEPTED
[[noreturn]] void refuse(std::string_view key, std::string_view found, std::string_view accepted);
/// "a whole number from 0 to 7"
std::string whole_numbers(Bounds);
void require_within(std::string_view key, std::int64_t value, Bounds);
void require_number(std::string_view key, double value, std::string_view accepted);
/// Different ranks below the limit, and at least one.
void require_ranks(std::string_view key, std::span<const std::int32_t> ranks, std::int64_t limit);
[[noreturn]] void refuse_rank(std::string_view key, std::string_view found, std::int64_t limit);

/// The one of that name.
Collective collective_named(std::string_view name);
const collectives::Algorithm& algorithm_named(Collective, std::string_view name);
/// "bcast, reduce, ..."
std::string accepted_collectives();
std::string accepted_progress();
std::string texts_for(std::int32_t ranks);

/// What `work` returns; its InvalidInput is reported as one of this place.
template <class Work>
auto within(const std::string& place, const Work& work) {
    try {
        return work();
    } catch (const InvalidInput& error) {
        throw InvalidInput(place + ": " + error.what(), error.hint());
    }
}

}  // namespace hocket::plan
