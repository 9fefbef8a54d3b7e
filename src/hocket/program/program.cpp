// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/program/program.hpp"

#include <algorithm>
#include <cmath>

#include "hocket/base/error.hpp"

namespace hocket {

namespace {

std::string fault_of(const RankProgram& rank, const ProgramOp& op, std::size_t num_ranks) {
    if (op.kind > ProgramOpKind::disconnect) return "the kind is unknown";
    if ((is_message(op.kind) || is_of_circuit(op.kind)) && (op.peer.value < 0 || op.peer.at() >= num_ranks))
        return "peer " + std::to_string(op.peer.value) + " is not a rank: expected 0 to " +
               std::to_string(num_ranks - 1);
    if (op.bytes < 0) return "bytes is " + std::to_string(op.bytes) + ": expected at least 0";
    if (!(op.seconds >= 0) || !std::isfinite(op.seconds)) return "seconds must be finite and at least 0";
    if (op.first_dependency < 0 || op.num_dependencies < 0 ||
        static_cast<std::size_t>(op.first_dependency) + static_cast<std::size_t>(op.num_dependencies) >
            rank.dependencies.size())
        return "the range of its dependency list is broken";
    for (const std::int32_t dependency : rank.dependencies_of(op))
        if (dependency < 0 || static_cast<std::size_t>(dependency) >= rank.ops.size())
            return "it depends on op " + std::to_string(dependency) + ": expected 0 to " +
                   std::to_string(rank.ops.size() - 1);
    return {};
}

/// An op that can never start because it waits, perhaps through others, for itself; or -1.
std::int32_t op_on_cycle(const RankProgram& rank) {
    std::vector<std::vector<std::int32_t>> dependents(rank.ops.size());
    std::vector<std::int32_t> waits(rank.ops.size());
    std::vector<std::int32_t> ready;
    for (std::size_t i = 0; i < rank.ops.size(); ++i) {
        waits[i] = rank.ops[i].num_dependencies;
        if (waits[i] == 0) ready.push_back(static_cast<std::int32_t>(i));
        for (const std::int32_t dependency : rank.dependencies_of(rank.ops[i]))
            dependents[static_cast<std::size_t>(dependency)].push_back(static_cast<std::int32_t>(i));
    }
    while (!ready.empty()) {
        const auto op = static_cast<std::size_t>(ready.back());
        ready.pop_back();
        for (const std::int32_t dependent : dependents[op])
            if (--waits[static_cast<std::size_t>(dependent)] == 0) ready.push_back(dependent);
    }
    // What is left is on a cycle or behind one: walking back along ops that are left must end up on it.
    std::size_t op = 0;
    while (op < waits.size() && waits[op] == 0) ++op;
    if (op == waits.size()) return -1;
    for (std::size_t step = 0; step < waits.size(); ++step)
        for (const std::int32_t dependency : rank.dependencies_of(rank.ops[op]))
            if (waits[static_cast<std::size_t>(dependency)] > 0) {
                op = static_cast<std::size_t>(dependency);
                break;
            }
    return static_cast<std::int32_t>(op);
}

}  // namespace

std::int32_t RankProgram::add(ProgramOp op, std::span<const std::int32_t> after) {
    op.first_dependency = static_cast<std::int32_t>(dependencies.size());
    op.num_dependencies = static_cast<std::int32_t>(after.size());
    dependencies.insert(dependencies.end(), after.begin(), after.end());
    ops.push_back(op);
    return static_cast<std::int32_t>(ops.size()) - 1;
}

std::string_view name_of(ProgramOpKind kind) {
    switch (kind) {
        case ProgramOpKind::send:
            return "send";
        case ProgramOpKind::recv:
            return "recv";
        case ProgramOpKind::compute:
            return "compute";
        case ProgramOpKind::reduce:
            return "reduce";
        case ProgramOpKind::connect:
            return "connect";
        case ProgramOpKind::disconnect:
            return "disconnect";
    }
    return "unknown";
}

bool has_circuits(const Program& program) {
    return std::any_of(program.ranks.begin(), program.ranks.end(), [](const RankProgram& rank) {
        return std::any_of(rank.ops.begin(), rank.ops.end(),
                           [](const ProgramOp& op) { return is_of_circuit(op.kind); });
    });
}

std::optional<ProgramFault> first_fault(const Program& program) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        for (std::size_t i = 0; i < rank.ops.size(); ++i) {
            const std::string what = fault_of(rank, rank.ops[i], program.ranks.size());
            if (!what.empty())
                return ProgramFault{Rank{static_cast<std::int32_t>(r)}, static_cast<std::int32_t>(i), what};
        }
        if (const std::int32_t op = op_on_cycle(rank); op >= 0)
            return ProgramFault{Rank{static_cast<std::int32_t>(r)}, op, "it waits for itself through its dependencies"};
    }
    return std::nullopt;
}

void check(const Program& program) {
    if (const auto fault = first_fault(program))
        throw InvalidInput("rank " + std::to_string(fault->rank.value) + ", op " + std::to_string(fault->op) + ": " +
                           fault->what);
}

}  // namespace hocket
