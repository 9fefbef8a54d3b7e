// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/data.hpp"

#include "bench/items/outcome.hpp"

namespace hocket::bench {

void fill(std::span<unsigned char> bytes, std::uint64_t seed, std::int64_t block) {
    for (std::size_t j = 0; j < bytes.size(); ++j) bytes[j] = data_byte(seed, block, j);
}

void check(BytesView bytes, std::uint64_t seed, std::int64_t block, const std::string& what) {
    for (std::size_t j = 0; j < bytes.size(); ++j) {
        const int expected = data_byte(seed, block, j);
        if (bytes[j] == expected) continue;
        throw Failure(Status::wrong_data, "byte " + std::to_string(j) + " of " + what + " is " +
                                              std::to_string(bytes[j]) + ", expected " + std::to_string(expected));
    }
}

}  // namespace hocket::bench
