// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/cpu_times.hpp"

#include <algorithm>

namespace hocket::trace {

void fill_cpu_times(std::vector<Call>& calls, const std::vector<CpuOfFold>& folds) {
    struct Reading {
        std::int64_t wall_ns = -1;
        std::int64_t cpu_ns = 0;
    };
    std::vector<Reading> last(std::size_t{UINT16_MAX} + 1);  // by thread
    auto fold = folds.begin();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        Call& call = calls[i];
        Reading& reading = last[static_cast<std::uint16_t>(call.thread)];
        const auto fill = [&reading](std::int64_t wall_ns, std::int64_t& cpu_ns) {
            if (cpu_ns >= 0 || reading.wall_ns < 0) reading = {wall_ns, std::clamp<std::int64_t>(cpu_ns, 0, kMostNs)};
            cpu_ns = std::min(kMostNs, reading.cpu_ns + std::max<std::int64_t>(0, wall_ns - reading.wall_ns));
        };
        fill(call.enter_ns, call.enter_cpu_ns);
        if (fold != folds.end() && fold->call == i) {
            call.exit_cpu_ns = call.enter_cpu_ns + fold->cpu_ns;
            ++fold;
        }
        fill(call.exit_ns, call.exit_cpu_ns);
    }
    std::vector<std::int64_t> next(last.size(), INT64_MAX);
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        std::int64_t& limit = next[static_cast<std::uint16_t>(call->thread)];
        limit = call->exit_cpu_ns = std::min(limit, call->exit_cpu_ns);
        limit = call->enter_cpu_ns = std::min(limit, call->enter_cpu_ns);
        call->outside_cpu_ns = std::min(call->outside_cpu_ns, call->exit_cpu_ns - call->enter_cpu_ns);
    }
}

}  // namespace hocket::trace
