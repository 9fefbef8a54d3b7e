// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/replay.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "hocket/replay/trace_stream.hpp"
#include "hocket/replay/whole_program.hpp"

namespace hocket::replay {

namespace {

/// The calls of a trace in memory, all in one part.
class TraceCalls : public trace::CallSource {
public:
    explicit TraceCalls(const Trace& trace) : trace_(trace) {}
    [[nodiscard]] std::int32_t num_ranks() const override { return trace_.num_ranks(); }
    [[nodiscard]] const trace::Tables& tables() const override { return trace_.tables(); }
    [[nodiscard]] std::unique_ptr<Reader> read(std::int32_t rank, trace::CpuReadings) override {
        return std::make_unique<WholeRank>(trace_.rank(rank));
    }
    [[nodiscard]] double share_read() const override { return 1; }

private:
    class WholeRank : public Reader {
    public:
        explicit WholeRank(const trace::RankFile& file) : file_(&file) {}
        const trace::RankFile* next() override { return std::exchange(file_, nullptr); }

    private:
        const trace::RankFile* file_;
    };
    const Trace& trace_;
};

/// Gives each receive the size of its message, for a rank cannot always know it, and turns what has no counterpart into
/// ops that do nothing: after a recording that was cut off.
void match_messages(Program& program, LeftOutCalls& left_out) {
    struct Channel {
        std::vector<ProgramOp*> sends, recvs;
    };
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Channel> channels;  // source, target, tag
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const auto rank = static_cast<std::int32_t>(r);
        for (ProgramOp& op : program.ranks[r].ops) {
            if (op.kind == ProgramOpKind::send) channels[{rank, op.peer.value, op.tag}].sends.push_back(&op);
            if (op.kind == ProgramOpKind::recv) channels[{op.peer.value, rank, op.tag}].recvs.push_back(&op);
        }
    }
    const auto leave_out = [&](std::vector<ProgramOp*>& ops, std::size_t first) {
        for (std::size_t i = first; i < ops.size(); ++i) {
            left_out.add_unmatched(ops[i]->kind == ProgramOpKind::send, ops[i]->bytes);
            ops[i]->kind = ProgramOpKind::compute;
            ops[i]->seconds = 0;
        }
    };
    for (auto& [place, channel] : channels) {
        const std::size_t matched = std::min(channel.sends.size(), channel.recvs.size());
        for (std::size_t i = 0; i < matched; ++i) channel.recvs[i]->bytes = channel.sends[i]->bytes;
        leave_out(channel.sends, matched);
        leave_out(channel.recvs, matched);
    }
}

}  // namespace

Replayed replay(const Trace& trace, const Plan& plan, const std::vector<NativeModel>& native,
                const ReplayOptions& options) {
    TraceCalls calls(trace);
    TraceStream stream(calls, plan, native, options);
    WholeProgram whole(trace.num_ranks());
    stream.begin(whole);
    for (std::int32_t rank = 0; rank < trace.num_ranks(); ++rank) stream.advance(Rank{rank});
    Program program = whole.take();
    LeftOutCalls left_out = stream.left_out();
    match_messages(program, left_out);
    return {std::move(program), stream.recorded_span_s(), left_out.rows(), stream.start_ns(), stream.take_call_ops()};
}

}  // namespace hocket::replay
