// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "hocket/analysis/critical_path.hpp"

namespace hocket::analysis {

/// A path that is found from its end to its start.
class PathBuilder {
public:
    /// The step that ends where the path begins so far; one of no duration is left out, equal neighbours are one.
    void add_before(const PathStep& step) {
        if (!(step.end_s > step.start_s)) return;
        if (!steps_.empty() && steps_.back().rank == step.rank && steps_.back().function == step.function)
            steps_.back().start_s = step.start_s;
        else
            steps_.push_back(step);
    }
    std::vector<PathStep> take() {
        std::ranges::reverse(steps_);
        return std::move(steps_);
    }

private:
    std::vector<PathStep> steps_;  // backwards
};

}  // namespace hocket::analysis
