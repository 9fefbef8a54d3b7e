// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The numbers in the shapes of generated networks, such as the 8x8x16 of "fat-tree:8x8x16".
namespace hocket::network {

/// A network of arithmetic (regular.hpp) larger than this is refused: the tables of who uses it would fill the memory.
inline constexpr std::int64_t max_regular_nodes = std::int64_t{1} << 24U;
inline constexpr std::int64_t max_regular_cables = std::int64_t{1} << 26U;

/// "8x8x16" with separator 'x' -> 8, 8, 16, each in 1..max_regular_nodes. `expected` completes the hint "write ...".
/// @throws InvalidInput  with the whole shape, also if there are not `least` to `most` numbers.
std::vector<std::int32_t> parse_shape(std::string_view shape, char separator, std::size_t least, std::size_t most,
                                      const std::string& expected);

/// The inverse of parse_shape.
std::string print_shape(const std::vector<std::int32_t>& numbers, char separator);

/// a * b, for factors that are not negative and of which one is at most max_regular_nodes; what is too large for any
/// network stays so.
std::int64_t times(std::int64_t a, std::int64_t b);

/// @throws InvalidInput  if there are more nodes or cables than that.
void check_size(std::int64_t nodes, std::int64_t cables, std::int64_t most_nodes, std::int64_t most_cables);

}  // namespace hocket::network
