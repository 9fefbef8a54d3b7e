// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <memory>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// A pattern in two halves: calls that start operations, and calls that complete them.
class Started : public Pattern {
public:
    virtual void start() = 0;
    virtual void complete() = 0;
    void run() final {
        start();
        complete();
    }
};

/// none: completed at once. post: the same, and both halves are timed. compute: between the halves each rank computes
/// for as long as the operation takes alone.
inline constexpr Option overlap_option{"overlap", "none|post|compute", "none"};

/// `pattern` as the option `overlap` has it. Its parts: post, wait; with computation also pure, the operation alone,
/// and compute, the computation alone.
std::unique_ptr<Pattern> overlapped(std::unique_ptr<Started> pattern, const Setting& setting);

}  // namespace hocket::bench
