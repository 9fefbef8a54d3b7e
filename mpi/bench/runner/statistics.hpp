// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace hocket::bench {

double median(std::vector<double> values);

/// The medians of chunks, by launch, of one point.
using ChunkMedians = std::vector<std::vector<double>>;

/// The interval of 95 % confidence of the median, by order statistics of block medians; none with too few of them.
/// A block is a launch's neighbouring chunks, so many that there are about ten blocks; with six launches or more, a
/// launch. Of two to five launches it is between the outermost blocks. hocket.bench.mpi.statistics in Python gives the
/// reasons and computes the same.
std::optional<std::pair<double, double>> interval(const ChunkMedians& launches);

}  // namespace hocket::bench
