// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The critical path of which only the instants of calls are known. That of a simulation: simulated_path.cpp.

#include "hocket/analysis/critical_path.hpp"

#include <algorithm>

#include "hocket/analysis/path_builder.hpp"

namespace hocket::analysis {

namespace {

constexpr double seconds_per_ns = 1e-9;

/// The calls of the main thread of one rank, to be looked at backwards in time.
struct Lane {
    std::vector<std::int32_t> calls;
    std::vector<const Wait*> waits;  // those not passed yet
};

class Walk {
public:
    Walk(const Trace& trace, const Instants& instants, const std::vector<Wait>& waits)
        : trace_(trace), instants_(instants), lanes_(instants.calls.size()) {
        for (std::size_t r = 0; r < lanes_.size(); ++r) {
            const auto& calls = trace.rank(static_cast<std::int32_t>(r)).calls;
            for (std::size_t c = 0; c < calls.size(); ++c)
                if (calls[c].thread == 0) lanes_[r].calls.push_back(static_cast<std::int32_t>(c));
        }
        for (const Wait& wait : waits) lanes_[static_cast<std::size_t>(wait.rank)].waits.push_back(&wait);
    }

    std::vector<PathStep> run() {
        std::int32_t rank = -1;
        std::int64_t now_ns = instants_.start_ns;
        for (std::size_t r = 0; r < lanes_.size(); ++r)
            if (!lanes_[r].calls.empty() && end_of(r) > now_ns) {
                now_ns = end_of(r);
                rank = static_cast<std::int32_t>(r);
            }
        while (rank >= 0 && now_ns > instants_.start_ns) {
            Lane& lane = lanes_[static_cast<std::size_t>(rank)];
            const auto enter_ns = [&](const Wait& wait) { return span(rank, wait.call).enter_ns; };
            while (!lane.waits.empty() && enter_ns(*lane.waits.back()) >= now_ns) lane.waits.pop_back();
            if (lane.waits.empty()) {
                stay(rank, instants_.start_ns, now_ns);
                break;
            }
            const Wait& wait = *lane.waits.back();
            lane.waits.pop_back();
            const std::int64_t until_ns = std::min(now_ns, enter_ns(wait) + wait.wait_ns);
            stay(rank, until_ns, now_ns);
            now_ns = until_ns;
            rank = wait.cause_rank;
        }
        return path_.take();
    }

private:
    [[nodiscard]] const Instants::Span& span(std::int32_t rank, std::int32_t call) const {
        return instants_.calls[static_cast<std::size_t>(rank)][static_cast<std::size_t>(call)];
    }
    /// The entry of MPI_Finalize, or the end of the last call.
    [[nodiscard]] std::int64_t end_of(std::size_t r) const {
        const auto rank = static_cast<std::int32_t>(r);
        const std::int32_t last = lanes_[r].calls.back();
        const Instants::Span& found = span(rank, last);
        return trace_.functions()[function(rank, last)] == "MPI_Finalize" ? found.enter_ns : found.exit_ns;
    }
    [[nodiscard]] std::size_t function(std::int32_t rank, std::int32_t call) const {
        return static_cast<std::size_t>(trace_.rank(rank).calls[static_cast<std::size_t>(call)].function);
    }

    /// On one rank, backwards: its calls and the computation between them.
    void stay(std::int32_t rank, std::int64_t from_ns, std::int64_t to_ns) {
        const auto& calls = lanes_[static_cast<std::size_t>(rank)].calls;
        auto next =
            std::ranges::partition_point(calls, [&](std::int32_t call) { return span(rank, call).enter_ns < to_ns; });
        while (to_ns > from_ns && next != calls.begin()) {
            --next;
            const Instants::Span& own = span(rank, *next);
            const std::int64_t exit_ns = std::clamp(own.exit_ns, from_ns, to_ns);
            const std::int64_t enter_ns = std::clamp(own.enter_ns, from_ns, exit_ns);
            add(rank, PathStep::computation, exit_ns, to_ns);
            add(rank, static_cast<std::int32_t>(function(rank, *next)), enter_ns, exit_ns);
            to_ns = enter_ns;
        }
        add(rank, PathStep::computation, from_ns, to_ns);
    }

    void add(std::int32_t rank, std::int32_t function, std::int64_t from_ns, std::int64_t to_ns) {
        const auto seconds = [&](std::int64_t ns) {
            return static_cast<double>(ns - instants_.start_ns) * seconds_per_ns;
        };
        path_.add_before({rank, function, seconds(from_ns), seconds(to_ns)});
    }

    const Trace& trace_;
    const Instants& instants_;
    std::vector<Lane> lanes_;
    PathBuilder path_;
};

}  // namespace

std::vector<PathStep> critical_path(const Trace& trace, const Instants& instants, const std::vector<Wait>& waits) {
    return Walk(trace, instants, waits).run();
}

}  // namespace hocket::analysis
