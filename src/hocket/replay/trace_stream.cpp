// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/trace_stream.hpp"

#include <algorithm>

#include "hocket/replay/rank_replay.hpp"

namespace hocket::replay {

ReplayState::ReplayState(trace::CallSource& calls, const Plan& plan, const std::vector<NativeModel>& native,
                         const ReplayOptions& given, OpSink& to, LeftOutCalls& without)
    : source(calls),
      tables(calls.tables()),
      options(given),
      changes(given.what_if, calls.num_ranks()),
      programs(plan, native),
      builder(to, calls.num_ranks()),
      locks(*this),
      left_out(without) {
    if (options.call_ops) call_ops.resize(static_cast<std::size_t>(calls.num_ranks()));
}

void ReplayState::follow_tables() {
    for (std::size_t i = kinds.size(); i < tables.functions.size(); ++i) {
        kinds.push_back(kind_of(tables.functions[i]));
        one_sided_kinds.push_back(one_sided_kind_of(tables.functions[i]));
        collectives.push_back(trace::collective_of(tables.functions[i]));
    }
    for (std::size_t i = ranks_in.size(); i < tables.communicators.size(); ++i) {
        const trace::Communicator& communicator = tables.communicators[i];
        auto& ranks = ranks_in.emplace_back();
        for (const std::int32_t world : communicator.members)
            if (world >= 0) ranks[0].try_emplace(world, static_cast<std::int32_t>(ranks[0].size()));
        for (const std::int32_t world : communicator.remote)
            if (world >= 0) ranks[1].try_emplace(world, static_cast<std::int32_t>(ranks[1].size()));
    }
}

TraceStream::TraceStream(trace::CallSource& source, const Plan& plan, const std::vector<NativeModel>& native,
                         const ReplayOptions& options)
    : source_(source), plan_(plan), native_(native), options_(options) {}

TraceStream::~TraceStream() = default;

void TraceStream::begin(OpSink& to) {
    ranks_.clear();
    left_out_ = {};
    if (unmatched_ != nullptr) matched_ = std::make_unique<MatchedSink>(to, *unmatched_, left_out_);
    state_ = std::make_unique<ReplayState>(source_, plan_, native_, options_, unmatched_ ? *matched_ : to, left_out_);
    for (std::int32_t rank = 0; rank < num_ranks(); ++rank) {
        ranks_.push_back(std::make_unique<RankReplay>(*state_, Rank{rank}));
        state_->start_ns = std::min(state_->start_ns, ranks_.back()->first_exit_ns());
    }
}

double TraceStream::recorded_span_s() const {
    return state_->start_ns > state_->end_ns ? 0 : static_cast<double>(state_->end_ns - state_->start_ns) * 1e-9;
}

std::int64_t TraceStream::start_ns() const { return state_->start_ns > state_->end_ns ? 0 : state_->start_ns; }

std::vector<CallOps> TraceStream::take_call_ops() { return std::move(state_->call_ops); }

void TraceStream::advance(Rank rank) { ranks_[rank.at()]->advance(); }

bool TraceStream::leave_out_unmatched() {
    if (unmatched_ != nullptr) return false;
    auto counted = std::make_unique<UnmatchedMessages>();
    begin(*counted);
    for (std::int32_t rank = 0; rank < num_ranks(); ++rank) advance(Rank{rank});
    counted->keep_unmatched();
    unmatched_ = std::move(counted);
    return !unmatched_->channels().empty();
}

}  // namespace hocket::replay
