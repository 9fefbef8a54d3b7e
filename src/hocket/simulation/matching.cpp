// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "hocket/base/error.hpp"

namespace hocket::simulation {
namespace {

/// One end of a message, ordered so that the two ends of a message come at the same place of their lists.
struct End {
    std::int32_t source, target, tag, op;
    [[nodiscard]] auto channel() const { return std::tie(source, target, tag); }
    [[nodiscard]] auto place() const { return std::tie(source, target, tag, op); }
};

void check(const Program& program, Rank rank, std::int32_t number) {
    const RankProgram& part = program.ranks[rank.at()];
    const ProgramOp& op = part.ops[static_cast<std::size_t>(number)];
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput(describe(program, rank, number) + ": " + why);
    };
    const auto num_ranks = static_cast<std::int32_t>(program.ranks.size());
    if ((is_message(op.kind) || is_of_circuit(op.kind)) && (op.peer.value < 0 || op.peer.value >= num_ranks))
        refuse("the program has ranks 0.." + std::to_string(num_ranks - 1));
    if (op.bytes < 0) refuse("a negative number of bytes");
    if (!(op.seconds >= 0) || !std::isfinite(op.seconds)) refuse("seconds must be finite and not negative");
    const auto num_dependencies = static_cast<std::int64_t>(part.dependencies.size());
    if (op.first_dependency < 0 || op.num_dependencies < 0 ||
        std::int64_t{op.first_dependency} + op.num_dependencies > num_dependencies)
        refuse("its dependencies lie outside the list of dependencies");
}

std::span<const std::int32_t> dependencies_of(const RankProgram& part, const ProgramOp& op) {
    return std::span(part.dependencies)
        .subspan(static_cast<std::size_t>(op.first_dependency), static_cast<std::size_t>(op.num_dependencies));
}

void number_ops(const Program& program, Matched& matched) {
    std::int64_t num_ops = 0, num_dependencies = 0;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (const RankProgram& part : program.ranks) {
        matched.first_op.push_back(static_cast<std::int32_t>(num_ops));
        num_ops += static_cast<std::int64_t>(part.ops.size());
        if (num_ops > most) throw InvalidInput("the program has more than 2^31 - 1 ops");
    }
    matched.first_op.push_back(static_cast<std::int32_t>(num_ops));
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const auto& ops = program.ranks[r].ops;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            check(program, Rank{static_cast<std::int32_t>(r)}, static_cast<std::int32_t>(i));
            num_dependencies += ops[i].num_dependencies;
        }
    }
    if (num_dependencies > most) throw InvalidInput("the program has more than 2^31 - 1 dependencies");
    matched.message_of.assign(static_cast<std::size_t>(num_ops), -1);
}

void turn_dependencies(const Program& program, Matched& matched) {
    const std::size_t num_ops = matched.message_of.size();
    matched.num_dependencies.assign(num_ops, 0);
    matched.first_dependent.assign(num_ops + 1, 0);
    const auto for_each = [&](auto&& visit) {
        for (std::size_t r = 0; r < program.ranks.size(); ++r) {
            const RankProgram& part = program.ranks[r];
            for (std::size_t i = 0; i < part.ops.size(); ++i)
                for (const std::int32_t dependency : dependencies_of(part, part.ops[i]))
                    visit(r, static_cast<std::int32_t>(i), dependency);
        }
    };
    for_each([&](std::size_t r, std::int32_t op, std::int32_t dependency) {
        if (dependency < 0 || static_cast<std::size_t>(dependency) >= program.ranks[r].ops.size())
            throw InvalidInput(describe(program, Rank{static_cast<std::int32_t>(r)}, op) + ": it depends on op " +
                               std::to_string(dependency) + "; the rank has ops 0.." +
                               std::to_string(program.ranks[r].ops.size() - 1));
        const auto first = static_cast<std::size_t>(matched.first_op[r]);
        ++matched.num_dependencies[first + static_cast<std::size_t>(op)];
        ++matched.first_dependent[first + static_cast<std::size_t>(dependency) + 1];
    });
    std::partial_sum(matched.first_dependent.begin(), matched.first_dependent.end(), matched.first_dependent.begin());
    matched.dependents.resize(static_cast<std::size_t>(matched.first_dependent.back()));
    std::vector<std::int32_t> next(matched.first_dependent.begin(), matched.first_dependent.end() - 1);
    for_each([&](std::size_t r, std::int32_t op, std::int32_t dependency) {
        const std::int32_t first = matched.first_op[r];
        matched.dependents[static_cast<std::size_t>(next[static_cast<std::size_t>(first + dependency)]++)] = first + op;
    });
}

}  // namespace

std::string describe(const Program& program, Rank rank, std::int32_t number) {
    const ProgramOp& op = program.ranks[rank.at()].ops[static_cast<std::size_t>(number)];
    const std::string bytes = std::to_string(op.bytes) + " bytes", peer = "rank " + std::to_string(op.peer.value);
    std::string what;
    switch (op.kind) {
        case ProgramOpKind::send:
            what = "send of " + bytes + " to " + peer + ", tag " + std::to_string(op.tag);
            break;
        case ProgramOpKind::recv:
            what = "recv of " + bytes + " from " + peer + ", tag " + std::to_string(op.tag);
            break;
        case ProgramOpKind::compute:
            what = "compute";
            break;
        case ProgramOpKind::reduce:
            what = "reduce of " + bytes;
            break;
        case ProgramOpKind::connect:
            what = "connect to " + peer;
            break;
        case ProgramOpKind::disconnect:
            what = "disconnect from " + peer;
            break;
    }
    return "rank " + std::to_string(rank.value) + ", op " + std::to_string(number) + " (" + what + ")";
}

Matched match(const Program& program) {
    Matched matched;
    number_ops(program, matched);
    turn_dependencies(program, matched);

    std::vector<End> sends, recvs;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const auto rank = static_cast<std::int32_t>(r);
        for (std::size_t i = 0; i < program.ranks[r].ops.size(); ++i) {
            const ProgramOp& op = program.ranks[r].ops[i];
            const std::int32_t number = matched.first_op[r] + static_cast<std::int32_t>(i);
            if (op.kind == ProgramOpKind::send) sends.push_back({rank, op.peer.value, op.tag, number});
            if (op.kind == ProgramOpKind::recv) recvs.push_back({op.peer.value, rank, op.tag, number});
        }
    }
    const auto by_place = [](const End& a, const End& b) { return a.place() < b.place(); };
    std::sort(sends.begin(), sends.end(), by_place);
    std::sort(recvs.begin(), recvs.end(), by_place);

    std::int32_t alone = std::numeric_limits<std::int32_t>::max();  // first op without a counterpart
    std::size_t s = 0, r = 0;
    while (s < sends.size() || r < recvs.size()) {
        if (r == recvs.size() || (s < sends.size() && sends[s].channel() < recvs[r].channel())) {
            alone = std::min(alone, sends[s++].op);
            continue;
        }
        if (s == sends.size() || recvs[r].channel() < sends[s].channel()) {
            alone = std::min(alone, recvs[r++].op);
            continue;
        }
        const std::pair pair{Rank{sends[s].source}, Rank{sends[s].target}};
        if (matched.pairs.empty() || matched.pairs.back() != pair) matched.pairs.push_back(pair);
        matched.messages.push_back(
            {sends[s++].op, recvs[r++].op, static_cast<std::int32_t>(matched.pairs.size()) - 1, 0});
    }
    const auto place_of = [&](std::int32_t op) {
        const auto after = std::upper_bound(matched.first_op.begin(), matched.first_op.end(), op);
        const auto rank = static_cast<std::int32_t>(after - matched.first_op.begin()) - 1;
        return std::pair{Rank{rank}, op - matched.first_op[static_cast<std::size_t>(rank)]};
    };
    const auto op_at = [&](std::int32_t number) -> const ProgramOp& {
        const auto [rank, op] = place_of(number);
        return program.ranks[rank.at()].ops[static_cast<std::size_t>(op)];
    };
    if (alone != std::numeric_limits<std::int32_t>::max()) {
        const auto [rank, op] = place_of(alone);
        throw InvalidInput(describe(program, rank, op) + " waits for ever: no " +
                               (op_at(alone).kind == ProgramOpKind::send ? "recv" : "send") + " matches it",
                           "sends and recvs match by source, target and tag, in the order of the ops");
    }

    std::sort(matched.messages.begin(), matched.messages.end(),
              [](const Message& a, const Message& b) { return a.send < b.send; });
    for (std::size_t m = 0; m < matched.messages.size(); ++m) {
        Message& message = matched.messages[m];
        matched.message_of[static_cast<std::size_t>(message.send)] = static_cast<std::int32_t>(m);
        matched.message_of[static_cast<std::size_t>(message.recv)] = static_cast<std::int32_t>(m);
        message.bytes = op_at(message.send).bytes;
        if (op_at(message.recv).bytes < message.bytes) {
            const auto [send_rank, send] = place_of(message.send);
            const auto [recv_rank, recv] = place_of(message.recv);
            throw InvalidInput(describe(program, recv_rank, recv) + " is too short for its message, " +
                               describe(program, send_rank, send));
        }
    }
    return matched;
}

}  // namespace hocket::simulation
