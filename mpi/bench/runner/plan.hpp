// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/runner/suite.hpp"
#include "hocket/base/json_writer.hpp"

namespace hocket::bench {

/// One item with one value of each parameter. Its place in the plan is its name in records.
struct Point {
    const Item* item;
    std::optional<int> number;
    std::int64_t bytes;
    int ranks;
    std::vector<std::pair<std::string, std::string>> options;
    int variant;
};

/// Points that differ in bytes alone: what an MPI can or cannot do.
struct Variant {
    std::string name;         ///< "io.write sync=true ranks=2", options that are as usual left out
    std::vector<int> probed;  ///< points that try it: of the smallest size, and of the largest below a limit
    std::string obstacle;     ///< why this launch cannot run it; empty: it can
};

struct Plan {
    std::vector<Point> points;
    std::vector<Variant> variants;
};

/// @param ranks  of the launch
Plan make_plan(const Suite& suite, int ranks);

/// As fields of a JSON object: item, number, bytes, ranks, options.
void write_fields(base::JsonWriter& json, const Point& point);

/// The order in which a round visits all points.
std::vector<int> order_of_round(const Suite& suite, std::size_t num_points, int launch, int round);

}  // namespace hocket::bench
