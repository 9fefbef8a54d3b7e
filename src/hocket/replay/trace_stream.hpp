// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hocket/plan/plan.hpp"
#include "hocket/program/op_stream.hpp"
#include "hocket/replay/left_out.hpp"
#include "hocket/replay/replay.hpp"
#include "hocket/replay/unmatched.hpp"
#include "hocket/trace/call_source.hpp"

namespace hocket::replay {

struct ReplayState;
class RankReplay;

/// A recorded program as ops that come when they are needed: what replay() makes a Program of.
///
/// In memory are a part of each rank's calls, requests that are not complete, and what came for receives with wildcards
/// between their call and the one that completed them.
class TraceStream : public OpStream {
public:
    /// All must outlive the stream.
    TraceStream(trace::CallSource&, const Plan&, const std::vector<NativeModel>&, const ReplayOptions&);
    ~TraceStream() override;

    [[nodiscard]] std::int32_t num_ranks() const override { return source_.num_ranks(); }
    void begin(OpSink&) override;
    void advance(Rank) override;
    [[nodiscard]] double share_added() const override { return source_.share_read(); }
    bool leave_out_unmatched() override;

    /// Since the stream began, of what was read.
    [[nodiscard]] const LeftOutCalls& left_out() const { return left_out_; }
    [[nodiscard]] double recorded_span_s() const;
    [[nodiscard]] std::int64_t start_ns() const;
    /// [rank], if asked for: of a Program alone, in which ops have numbers.
    [[nodiscard]] std::vector<CallOps> take_call_ops();

private:
    trace::CallSource& source_;
    const Plan& plan_;
    const std::vector<NativeModel>& native_;
    const ReplayOptions& options_;
    LeftOutCalls left_out_;
    std::unique_ptr<UnmatchedMessages> unmatched_;  // none: it is not known that there are any
    std::unique_ptr<MatchedSink> matched_;
    std::unique_ptr<ReplayState> state_;
    std::vector<std::unique_ptr<RankReplay>> ranks_;
};

}  // namespace hocket::replay
