// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/cpu_times.hpp"

#include <algorithm>

namespace hocket::trace {

CpuTimes::Thread& CpuTimes::of(const Call& call) {
    const auto thread = static_cast<std::uint16_t>(call.thread);
    if (thread >= threads_.size()) threads_.resize(std::size_t{thread} + 1);
    return threads_[thread];
}

void CpuTimes::fill(std::span<Call> calls, const std::vector<CpuOfFold>& folds) {
    auto fold = folds.begin();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        Call& call = calls[i];
        Thread& thread = of(call);
        const auto fill = [&thread](std::int64_t wall_ns, std::int64_t& cpu_ns) {
            if (cpu_ns >= 0 || !thread.is_read) {
                thread.is_read = true;
                thread.wall_ns = wall_ns;
                thread.cpu_ns = std::clamp<std::int64_t>(cpu_ns, 0, kMostNs);
            }
            cpu_ns = std::min(kMostNs, thread.cpu_ns + std::max<std::int64_t>(0, wall_ns - thread.wall_ns));
        };
        fill(call.enter_ns, call.enter_cpu_ns);
        if (fold != folds.end() && fold->call == i) {
            call.exit_cpu_ns = call.enter_cpu_ns + fold->cpu_ns;
            ++fold;
        }
        fill(call.exit_ns, call.exit_cpu_ns);
    }
    for (Thread& thread : threads_) thread.next_ns = INT64_MAX;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        Thread& thread = of(*call);
        const auto limit = [&thread](std::int64_t& cpu_ns) {
            thread.next_ns = cpu_ns = std::max(thread.least_ns, std::min(thread.next_ns, cpu_ns));
        };
        limit(call->exit_cpu_ns);
        limit(call->enter_cpu_ns);
        call->outside_cpu_ns = std::min(call->outside_cpu_ns, call->exit_cpu_ns - call->enter_cpu_ns);
    }
    for (const Call& call : calls) of(call).least_ns = std::max(of(call).least_ns, call.exit_cpu_ns);
}

}  // namespace hocket::trace
