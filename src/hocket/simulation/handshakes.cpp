// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/handshakes.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "hocket/simulation/matching.hpp"

namespace hocket::simulation {

std::array<std::int32_t, 2> free_tags(const Program& program) {
    std::unordered_set<std::int32_t> used;
    for (const RankProgram& part : program.ranks)
        for (const ProgramOp& op : part.ops) used.insert(op.tag);
    std::array<std::int32_t, 2> found{};
    std::int32_t tag = 0;
    for (std::int32_t& one : found) {
        while (used.contains(tag)) ++tag;
        one = tag++;
    }
    return found;
}

std::optional<Program> with_handshakes(const Program& program, std::int64_t rendezvous_bytes) {
    const auto is_large = [&](const ProgramOp& op) {
        return op.kind == ProgramOpKind::send && op.bytes >= rendezvous_bytes;
    };
    if (std::none_of(program.ranks.begin(), program.ranks.end(),
                     [&](const RankProgram& part) { return std::any_of(part.ops.begin(), part.ops.end(), is_large); }))
        return std::nullopt;

    const Matched matched = match(program);
    const auto [request, answer] = free_tags(program);
    Program result = program;
    // In the order of the sends, so that requests and answers of a pair match in the order of their messages.
    for (const Message& message : matched.messages) {
        if (message.bytes < rendezvous_bytes) continue;
        const auto [source, target] = matched.pairs[static_cast<std::size_t>(message.pair)];
        const std::int32_t send = message.send - matched.first_op[source.at()];
        const std::int32_t recv = message.recv - matched.first_op[target.at()];
        RankProgram &sender = result.ranks[source.at()], &receiver = result.ranks[target.at()];
        const auto before = [](const RankProgram& part, std::int32_t op) {
            const auto span = part.dependencies_of(part.ops[static_cast<std::size_t>(op)]);
            return std::vector<std::int32_t>(span.begin(), span.end());
        };
        sender.add({ProgramOpKind::send, target, request}, before(sender, send));
        const std::int32_t answered = sender.add({ProgramOpKind::recv, target, answer});
        ProgramOp& data = sender.ops[static_cast<std::size_t>(send)];
        data.first_dependency = static_cast<std::int32_t>(sender.dependencies.size());
        data.num_dependencies = 1;
        sender.dependencies.push_back(answered);

        std::vector<std::int32_t> posted = before(receiver, recv);
        posted.push_back(receiver.add({ProgramOpKind::recv, source, request}));
        receiver.add({ProgramOpKind::send, source, answer}, posted);
    }
    return result;
}

void forget_handshakes(const Program& program, const Program& with_handshakes,
                       std::vector<std::vector<Timeline::Interval>>& ranks) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram &before = program.ranks[r], &after = with_handshakes.ranks[r];
        auto& intervals = ranks[r];
        for (std::size_t i = 0; i < before.ops.size(); ++i) {
            if (before.ops[i] == after.ops[i] || std::isnan(intervals[i].end_s)) continue;
            const std::int32_t answered = after.dependencies_of(after.ops[i]).front();  // comes after the request
            intervals[i].start_s = intervals[static_cast<std::size_t>(answered) - 1].start_s;
        }
        intervals.resize(before.ops.size());
    }
}

}  // namespace hocket::simulation
