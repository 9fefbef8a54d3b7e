// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/analysis/instants.hpp"

#include <algorithm>
#include <cmath>

#include "hocket/base/error.hpp"

namespace hocket::analysis {

Instants recorded_instants(const Trace& trace, const replay::Replayed& replayed) {
    Instants found{{}, replayed.start_ns};
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) {
        auto& spans = found.calls.emplace_back();
        for (const trace::Call& call : trace.rank(rank).calls)
            spans.push_back({std::max(call.enter_ns, found.start_ns), std::max(call.exit_ns, found.start_ns)});
    }
    return found;
}

Instants simulated_instants(const replay::Replayed& replayed, const Timeline& timeline) {
    if (replayed.call_ops.size() != timeline.ranks.size())
        throw InvalidInput("the replay does not tell which operations belong to which call", "replay with call_ops");
    if (!timeline.completed) throw InvalidInput("the simulation was stopped", "simulate to the end");
    constexpr double ns_per_s = 1e9;
    Instants found{{}, replayed.start_ns};
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
        const replay::CallOps& of = replayed.call_ops[rank];
        const auto ended = [&](const replay::CallOps::Range& range) {
            double end_s = 0;
            for (std::int32_t i = range.first; i < range.end; ++i) {
                const std::int32_t op = of.awaited[static_cast<std::size_t>(i)];
                end_s = std::max(end_s, timeline.ranks[rank][static_cast<std::size_t>(op)].end_s);
            }
            return replayed.start_ns + std::llround(end_s * ns_per_s);
        };
        auto& spans = found.calls.emplace_back();
        for (std::size_t call = 0; call < of.before.size(); ++call) {
            spans.push_back({ended(of.before[call]), ended(of.after[call])});
            const replay::CallOps::Range& computed = of.computed[call];
            if (call == 0 || computed.first == computed.end) continue;
            const double start_s = timeline.ranks[rank][static_cast<std::size_t>(computed.first)].start_s;
            std::int64_t& exit_ns = spans[call - 1].exit_ns;
            exit_ns = std::max<std::int64_t>(exit_ns, replayed.start_ns + std::llround(start_s * ns_per_s));
        }
    }
    return found;
}

}  // namespace hocket::analysis
