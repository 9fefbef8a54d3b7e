// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

namespace hocket {

/// [begin, end) of piece i of `pieces` in a block of n elements: the one rule that all ranks, the lowering and the run
/// time use.
struct ElementRange {
    std::int64_t begin, end;
};
constexpr ElementRange piece_of(std::int64_t n, std::int32_t pieces, std::int32_t i) {
    return {n / pieces * i + n % pieces * i / pieces, n / pieces * (i + 1) + n % pieces * (i + 1) / pieces};
}

}  // namespace hocket
