// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// How much is measured.
struct Extent {
    std::vector<std::int64_t> bytes;  ///< for items that have a size
    std::vector<int> ranks;           ///< none: all of the launch
    int launches = 5;
    int most_launches = 5;    ///< with further ones, for points that are not known well, while the budget lasts
    int rounds = 2;           ///< of all points in a launch, at least
    bool adds_rounds = true;  ///< of points that are not known well, in the same launch
    int samples = 20;         ///< in a chunk, at most
    int runs = 1;             ///< of which a sample consists, at least, of items that allow it
    double target = 0.05;     ///< half of the interval's width / median, below which a point gets no further rounds
    double budget_s = 900;    ///< of all launches
    bool agrees = false;      ///< ranks start at a time agreed on, not behind a barrier
};

/// An item with the values that its points take.
struct Selection {
    const Item* item;
    std::optional<int> number;  ///< in a published list, such as MBL2's
    std::vector<std::int64_t> bytes;
    std::vector<int> ranks;
    std::vector<std::pair<std::string, std::vector<std::string>>> options;  ///< each of the item's
};

/// A file of format hocket.suite/1: what to measure.
struct Suite {
    Suite() = default;
    Suite(Suite&&) = default;
    Suite& operator=(Suite&&) = default;
    std::string name;
    std::uint64_t seed = 1;
    Extent extent;
    std::deque<Item> own;  ///< the suite's patterns and plug-ins, which stay where they are
    std::vector<Selection> selections;
};

/// @param is_quick  the table [quick] of the file goes before its other values
/// @throws InvalidInput  with file and line
Suite read_suite(std::string_view text, std::string_view source, bool is_quick);

}  // namespace hocket::bench
