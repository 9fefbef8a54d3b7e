// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::bench {

/// Times of the parts of runs. Only the latest are kept, so that nothing is allocated on the clock.
class Medians {
public:
    Medians() : times_(most) {}
    void add(std::int64_t ns) { times_[num_++ % most] = static_cast<double>(ns); }
    /// 0 where there are none.
    [[nodiscard]] double median() const { return quantile(0.5); }
    [[nodiscard]] double quantile(double part) const {
        if (num_ == 0) return 0;
        std::vector<double> sorted(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(std::min(num_, most)));
        const auto place = static_cast<std::ptrdiff_t>(part * static_cast<double>(sorted.size() - 1));
        std::nth_element(sorted.begin(), sorted.begin() + place, sorted.end());
        return sorted[static_cast<std::size_t>(place)];
    }

private:
    static constexpr std::size_t most = 1024;
    std::vector<double> times_;
    std::size_t num_ = 0;
};

}  // namespace hocket::bench
