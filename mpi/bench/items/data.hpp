// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket::bench {

using Bytes = std::vector<unsigned char>;
using BytesView = std::span<const unsigned char>;

/// Byte `j` of block `block`, such as the part of a file that one rank writes.
inline unsigned char data_byte(std::uint64_t seed, std::int64_t block, std::size_t j) {
    return static_cast<unsigned char>(seed * 131U + static_cast<std::uint64_t>(block) + j * 7U + (j >> 8U) * 3U);
}

/// `bytes` becomes block `block`.
void fill(std::span<unsigned char> bytes, std::uint64_t seed, std::int64_t block);

/// @throws Failure  wrong_data, if `bytes` is not block `block`; `what` names the bytes
void check(BytesView bytes, std::uint64_t seed, std::int64_t block, const std::string& what);

/// The number of the block that starts with this byte, modulo 256.
inline int block_of(unsigned char first, std::uint64_t seed) {
    return static_cast<unsigned char>(first - data_byte(seed, 0, 0));
}

}  // namespace hocket::bench
