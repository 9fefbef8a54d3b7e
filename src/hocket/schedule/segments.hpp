// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

namespace hocket {

/// [begin, end) of segment i of `segments` in a block of n elements: the one rule that all ranks, the lowering and the
/// run time use.
struct ElementRange {
    std::int64_t begin, end;
};
constexpr ElementRange segment_of(std::int64_t n, std::int32_t segments, std::int32_t i) {
    return {n / segments * i + n % segments * i / segments, n / segments * (i + 1) + n % segments * (i + 1) / segments};
}

}  // namespace hocket
